import Type, { type Static } from 'typebox';
import { idPattern } from './ids.ts';
import { Time } from './time.ts';

/** A wish that a machine's serial console be recorded. It has its end with it, so that a site that is cut off ends it too. */
export const ConsoleRecording = Type.Object(
  { recordingId: Type.String({ maxLength: 64, pattern: idPattern('rec') }), until: Time },
  { additionalProperties: false },
);
export type ConsoleRecording = Static<typeof ConsoleRecording>;

/** The longest that a console is recorded for one wish, in milliseconds: it is for a machine that somebody looks at, not a log. */
export const longestRecordingMs = 24 * 3_600_000;

/** The events of a recording: `joined` and `broken` say when the BMC let us in and why no more, `output` has lines as plain text, several in one. */
export const consoleEventTypes = [
  'console.started',
  'console.joined',
  'console.output',
  'console.broken',
  'console.ended',
] as const;
export type ConsoleEventType = (typeof consoleEventTypes)[number];
