/** What QEMU says on a QMP connection (QEMU machine protocol specification, one JSON object a line). */
export type QmpMessage =
  | { type: 'greeting'; version: string }
  | { type: 'return'; id: number; value: unknown }
  | { type: 'error'; id: number; class: string; text: string }
  | { type: 'event'; name: string; data: Record<string, unknown> };

/** The message on one line; undefined for anything else. Never throws. */
export function parseQmpLine(line: string): QmpMessage | undefined {
  const message = parseObject(line);
  if (message === undefined) return undefined;
  if (isObject(message.QMP)) return { type: 'greeting', version: greetingVersion(message.QMP) };
  if (typeof message.event === 'string') {
    return { type: 'event', name: message.event, data: isObject(message.data) ? message.data : {} };
  }
  return parseReply(message);
}

function parseReply(message: Record<string, unknown>): QmpMessage | undefined {
  const { id, error } = message;
  if (typeof id !== 'number') return undefined;
  if ('return' in message) return { type: 'return', id, value: message.return };
  if (!isObject(error)) return undefined;
  return { type: 'error', id, class: String(error.class), text: String(error.desc) };
}

function greetingVersion({ version }: Record<string, unknown>): string {
  const qemu = isObject(version) && isObject(version.qemu) ? version.qemu : {};
  return [qemu.major, qemu.minor, qemu.micro]
    .map((part) => (typeof part === 'number' ? part : '?'))
    .join('.');
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
