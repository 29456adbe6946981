# placeholder so that paths.ROOT is found; BUILD writes it
