import { RailheadError } from '#contract/errors.ts';
import type { MachineDriver } from './driver.ts';

/**
 * What nobody can do to a machine without a BMC.
 * @param name how the driver is called, for the sentence
 */
export function withoutController(
  name: string,
): Pick<
  MachineDriver,
  'getPower' | 'clearBootDevice' | 'inspect' | 'insertMedia' | 'insertedMedia' | 'ejectMedia' | 'close'
> {
  // By this reason the workflow boots the image over the network instead.
  const noMedia = async () => {
    throw cannot(`${name} has no virtual media: the site boots the image over the network`, 'virtual-media');
  };
  return {
    getPower: async () => {
      throw cannot(`${name} cannot tell whether a machine is on`, 'power-state');
    },
    clearBootDevice: async () => {
      throw cannot(`${name} sets no boot device that could be taken back`, 'boot-device');
    },
    inspect: async () => {
      throw cannot(`${name} knows nothing of a machine: inspect it by its ramdisk`, 'inspect');
    },
    insertMedia: noMedia,
    insertedMedia: noMedia,
    ejectMedia: async () => {},
    close: async () => {},
  };
}

export function cannot(message: string, reason: string, facts: Record<string, unknown> = {}): RailheadError {
  return new RailheadError('UNSUPPORTED', message, { reason, ...facts });
}
