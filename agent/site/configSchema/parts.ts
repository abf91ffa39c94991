import Type from 'typebox';

/** An unknown name in the file is an error. */
export const closed = { additionalProperties: false };

const ipv4 = '^(\\d{1,3}\\.){3}\\d{1,3}$';

/** A place to listen: address and port. */
export const listen = '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:]+\\]):\\d{1,5}$';

/** A size in bytes with its unit. */
export const size = '^[1-9]\\d*(MiB|GiB|TiB)$';

export const Address = (description: string, extra: object = {}) =>
  Type.String({ pattern: ipv4, description, ...extra });

/**
 * A name that Linux takes for an interface (dev_valid_name), without what systemd reads otherwise in the units of sockets: specifiers,
 * quotes, escapes and variables (systemd.unit(5), systemd.syntax(7)).
 */
export function InterfaceName(description: string) {
  return Type.String({ pattern: '^[^\\s/:%"\'\\\\$]{1,15}$', description });
}
