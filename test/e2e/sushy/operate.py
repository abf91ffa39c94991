"""Does with a BMC by sushy what ours does: address, user, password, image, then the names of operations. Prints one JSON object."""
import json
import sys
import time

import sushy
from sushy import auth as sushy_auth

address, user, password, image, *operations = sys.argv[1:]
auth = sushy_auth.SessionOrBasicAuth(user, password)
root = sushy.Sushy(address + "/redfish/v1", auth=auth, verify=False)
system = root.get_system_collection().get_members()[0]


def wait_for(state):
    for _ in range(100):
        system.refresh(force=True)
        if system.power_state == state:
            return state.value
        time.sleep(0.4)
    raise SystemExit("the power stays " + str(system.power_state))


def drive():
    return next(slot for slot in system.virtual_media.get_members() if sushy.VirtualMediaType.CD in slot.media_types)


def boot(target):
    system.set_system_boot_options(target, enabled=sushy.BootSourceOverrideEnabled.ONCE)
    system.refresh(force=True)
    return system.boot.target.value, system.boot.enabled.value


def media(change, inserted):
    slot = drive()
    change(slot)
    slot.refresh(force=True)
    assert bool(slot.inserted) == inserted, slot.inserted
    return inserted


def reset(reset_type, state):
    """Looks first, as ironic's conductor does: what is so already is not asked for again."""
    system.refresh(force=True)
    if system.power_state == state and reset_type != sushy.ResetType.FORCE_RESTART:
        return state.value
    system.reset_system(reset_type)
    return wait_for(state)


known = {
    "power": lambda: (system.refresh(force=True), system.power_state.value)[1],
    "on": lambda: reset(sushy.ResetType.ON, sushy.PowerState.ON),
    "off": lambda: reset(sushy.ResetType.FORCE_OFF, sushy.PowerState.OFF),
    "cycle": lambda: reset(sushy.ResetType.FORCE_RESTART, sushy.PowerState.ON),
    "pxe": lambda: boot(sushy.BootSource.PXE),
    "insert": lambda: media(lambda slot: slot.insert_media(image, inserted=None, write_protected=None), True),
    "eject": lambda: media(lambda slot: slot.eject_media(), False),
}
answers = {name: known[name]() for name in operations}
auth.close()
print(json.dumps(answers))
