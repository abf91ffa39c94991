import Type from 'typebox';
import { type ErrorCode, errorStatus } from '#contract/errors.ts';

const codes = Object.keys(errorStatus) as ErrorCode[];

/** What every refusal says: docs/errors.md lists the codes and what the details of each hold. */
export const WireError = Type.Object({
  code: Type.Enum(codes),
  message: Type.String(),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

export const ErrorAnswer = Type.Object({ error: WireError }, { additionalProperties: false });
