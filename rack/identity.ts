import { createHash } from 'node:crypto';

/** Who a machine is on the wire and in its SMBIOS tables. */
export interface MachineIdentity {
  mac: string;
  uuid: string;
  serial: string;
}

/** The identity of a machine: the same for the same prefix and name, so that a rack built again is the same rack. */
export function machineIdentity(prefix: string, name: string): MachineIdentity {
  const hash = createHash('sha256').update(`${prefix}/${name}`).digest('hex');
  const digits = (from: number, count: number) => hash.slice(from, from + count);
  // 52:54:00 is the locally administered block that QEMU uses.
  const mac = ['52', '54', '00', digits(0, 2), digits(2, 2), digits(4, 2)].join(':');
  // Version 8 and variant 8: a UUID of the maker's own recipe (RFC 9562 section 5.8).
  const uuid = [digits(6, 8), digits(14, 4), `8${digits(18, 3)}`, `8${digits(21, 3)}`, digits(24, 12)].join(
    '-',
  );
  return { mac, uuid, serial: `RH${digits(36, 8).toUpperCase()}` };
}

/** At most 20 characters: what virtio-blk and NVMe can hold. */
export function diskSerial(machineSerial: string, index: number): string {
  return `${machineSerial}-D${index + 1}`;
}
