"""Drives simulated BMCs with sushy, a client that nobody here wrote.

usage: drive.py BASE USER AUTHORITY IMAGE; the password comes by standard input.
It prints one line of JSON about what it saw.
"""
import json
import sys
import time

import sushy
from sushy import auth

base, user, image = sys.argv[1], sys.argv[2], sys.argv[4]
password = sys.stdin.readline().rstrip("\n")
conn = sushy.Sushy(base, verify=sys.argv[3], auth=auth.SessionAuth(user, password))


def pick():
    for path in conn.get_system_collection().members_identities:
        try:
            system = conn.get_system(path)
            if system.power_state and system.get_allowed_reset_system_values():
                return system
        except (sushy.exceptions.MissingActionError, sushy.exceptions.MissingAttributeError):
            continue  # a baseboard, which is no host
    raise SystemExit("no system can be reset")


def until(system, state):
    for _ in range(100):
        system.refresh(force=True)
        if system.power_state == state:
            return
        time.sleep(0.05)
    raise SystemExit("the system reads %s, not %s" % (system.power_state, state))


seen = {}
system = pick()
seen["system"] = system.path
seen["allowed"] = sorted(v.value for v in system.get_allowed_reset_system_values())
system.reset_system(sushy.ResetType.FORCE_OFF)
until(system, sushy.PowerState.OFF)
seen["boot"] = False
if sushy.BootSource.PXE in system.get_allowed_system_boot_source_values():
    try:
        system.set_system_boot_options(target=sushy.BootSource.PXE, enabled=sushy.BootSourceOverrideEnabled.ONCE)
        seen["boot"] = True
    except sushy.exceptions.BadRequestError:
        pass  # it takes no override; sushy asks all the same
system.reset_system(sushy.ResetType.ON)
until(system, sushy.PowerState.ON)

seen["media"] = []
for path in conn.get_manager_collection().members_identities:
    try:
        slots = conn.get_manager(path).virtual_media.get_members()
    except sushy.exceptions.SushyError:
        continue  # it is not there, or has no media
    for slot in slots:
        if slot.inserted or slot.path in seen["media"]:
            continue
        slot.insert_media(image, write_protected=True)
        slot.refresh(force=True)
        if not slot.inserted or slot.image != image:
            raise SystemExit("%s is not inserted: %s" % (slot.path, slot.image))
        slot.eject_media()
        slot.refresh(force=True)
        if slot.inserted:
            raise SystemExit("%s is still inserted" % slot.path)
        seen["media"].append(slot.path)
        break
print(json.dumps(seen))
