import type { SiteAction, SiteActionName } from './action.ts';
import { readAccount, setPassword } from './bmcPassword.ts';
import { bmcRedfish } from './bmcRedfish.ts';
import { cleanUp } from './cleanUp.ts';
import { clearBootDevice } from './clearBootDevice.ts';
import { driverInvoke } from './driverInvoke.ts';
import { driverEjectMedia, driverInsertedMedia, driverInsertMedia } from './driverMedia.ts';
import { ejectMedia } from './ejectMedia.ts';
import { getHealth } from './getHealth.ts';
import { getPower } from './getPower.ts';
import { insertMedia } from './insertMedia.ts';
import { inspectOob } from './inspectOob.ts';
import { prepareRamdisk } from './prepareRamdisk.ts';
import { setBootDevice } from './setBootDevice.ts';
import { setPower } from './setPower.ts';

/** Every action of a site; one that the contract names and this list does not does not compile. */
export const actions: { readonly [Name in SiteActionName]: SiteAction<Name> } = {
  'power.getPower': getPower,
  'power.setPower': setPower,
  'management.setBootDevice': setBootDevice,
  'management.clearBootDevice': clearBootDevice,
  'management.getHealth': getHealth,
  'virtual-media.insertMedia': driverInsertMedia,
  'virtual-media.ejectMedia': driverEjectMedia,
  'virtual-media.insertedMedia': driverInsertedMedia,
  'boot.prepareRamdisk': prepareRamdisk,
  'boot.cleanUp': cleanUp,
  'inspect.oob': inspectOob,
  'media.insert': insertMedia,
  'media.eject': ejectMedia,
  'driver.invoke': driverInvoke,
  'bmc.redfish': bmcRedfish,
  'bmc.readAccount': readAccount,
  'bmc.setPassword': setPassword,
};

export function isSiteAction(name: string): name is SiteActionName {
  return Object.hasOwn(actions, name);
}
