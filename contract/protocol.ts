import type { Static, TSchema } from 'typebox';
import { protocolVersion } from './agentWire.ts';
import { type ErrorCode, RailheadError } from './errors.ts';
import { validate } from './validate.ts';

/**
 * `validate` for a message that states its protocol version, which is looked at first: one of another version is refused by that name,
 * not by whatever field it happens to have more or fewer.
 * @throws RailheadError UNSUPPORTED (`protocol`) for another version, else as `validate`
 */
export function validateMessage<Schema extends TSchema>(
  schema: Schema,
  message: unknown,
  code?: ErrorCode,
): Static<Schema> {
  const found = statedProtocol(message);
  if (found !== undefined && found !== protocolVersion) throw otherProtocol(found);
  return validate(schema, message, code);
}

/** What is no number is for the schema to refuse. */
function statedProtocol(message: unknown): number | undefined {
  const { protocol } = Object(message) as { protocol?: unknown };
  return typeof protocol === 'number' ? protocol : undefined;
}

function otherProtocol(found: number): RailheadError {
  const message = `the other side speaks protocol ${found}, this one ${protocolVersion}: upgrade the older of the two`;
  return new RailheadError('UNSUPPORTED', message, {
    path: 'protocol',
    reason: 'protocol',
    expected: protocolVersion,
    found,
  });
}
