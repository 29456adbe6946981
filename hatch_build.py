"""What the wheel carries of the compendium: recordings, registry, ledger and parameters, below lockstep/compendium/."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARRIED = ("data", "config", "paper/claims.yaml")


class CustomBuildHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "standard":  # an editable installation finds them in the checkout
            build_data["force_include"] |= {name: f"lockstep/compendium/{name}" for name in CARRIED}
