import { setting } from './escape.ts';

/** How many interfaces are looked at. */
const interfaces = 16;

/**
 * The name of the interface that a script looks at, `net0` or, once `vlanScript` has moved the machine to a VLAN, `net0-42`: iPXE names
 * a VLAN by its trunk and its tag.
 */
export const currentInterface = `net${setting('idx')}${setting('vlan-suffix')}`;

/** A setting of that interface. */
export function ofInterface(name: string): string {
  return setting(`${currentInterface}/${name}`);
}

/** Lines that run `body` for one interface after the other; it may go to `<label>-next`. */
export function eachInterface(label: string, body: readonly string[]): string[] {
  return [
    'set idx:int32 0',
    `:${label}`,
    ...body,
    `:${label}-next`,
    'inc idx',
    `iseq ${setting('idx')} ${interfaces} || goto ${label}`,
  ];
}

/** A line that goes to `label` when a setting of the interface has this value. */
export function ifInterface(name: string, value: string, label: string): string {
  return `iseq ${ofInterface(name)} ${value} && goto ${label} ||`;
}
