import { PassThrough, type Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Log } from '#base/log.ts';
import { longestRecordingMs } from '#contract/consoleRecording.ts';
import { durationMs, durationPattern } from '#contract/durations.ts';
import type { SiteNode } from '#contract/nodeSpec.ts';
import { validate } from '#contract/validate.ts';
import { goneSignal } from '#doors/goneSignal.ts';
import { type Route, route } from '#doors/routes.ts';
import type { Consoles } from '../console/consoles.ts';
import type { Recorder } from '../console/recorder.ts';
import { requireNode } from '../store/spec.ts';
import type { SiteState } from '../store/state.ts';
import type { LocalUser } from './localUser.ts';

export interface ConsoleRouteParts {
  state: Pick<SiteState, 'spec'>;
  consoles: Pick<Consoles, 'join'>;
  recorder: Pick<Recorder, 'begin' | 'end'>;
  log: Log;
}

const RecordingWish = Type.Object(
  { for: Type.String({ pattern: durationPattern }) },
  { additionalProperties: false },
);
/** A reader that takes nothing for so long that this much waits for him is let go: the others are not held up. */
const mostWaiting = 4 * 1024 * 1024;

/** A machine's serial console, for those who own the agent: it works while the centre is away, and the log says who had it. On the local socket alone. */
export function consoleRoutes(
  parts: ConsoleRouteParts,
  admit: (request: Parameters<Route['admit']>[0]) => LocalUser,
): Route[] {
  const { recorder, log } = parts;
  return [
    // What is typed is the body, what the machine prints the answer, both for as long as the client stays.
    route<LocalUser>({
      method: 'POST',
      path: '/v1/nodes/:nodeId/console',
      admit,
      bodyLimit: Number.MAX_SAFE_INTEGER,
      answer: async (request, user, reply) => {
        // A machine may print nothing for hours.
        reply.raw.socket?.setTimeout(0);
        const output = await attached(request, user, parts, goneSignal(reply));
        return reply.type('application/octet-stream').send(output);
      },
    }),
    route<LocalUser>({
      method: 'POST',
      path: '/v1/nodes/:nodeId/recording',
      admit,
      answer: (request, { uid }) => {
        const forMs = Math.min(durationMs(validate(RecordingWish, request.body).for), longestRecordingMs);
        const node = nodeOf(request, parts);
        const recording = recorder.begin(node, Date.now() + forMs, `user ${uid} of the site's host`);
        const { recordingId, until } = recording;
        log.info({ uid, nodeId: node.nodeId, recordingId, until }, 'an operator has a console recorded');
        return { recordingId, until: new Date(until).toISOString() };
      },
    }),
    route<LocalUser>({
      method: 'POST',
      path: '/v1/nodes/:nodeId/recording/end',
      admit,
      answer: (request, { uid }) => {
        const { nodeId } = nodeOf(request, parts);
        recorder.end(nodeId, `user ${uid} of the site's host has ended it`);
        log.info({ uid, nodeId }, 'an operator has ended the recording of a console');
        return { nodeId };
      },
    }),
  ];
}

/** Joins the console for a client, and returns what it is to see. */
async function attached(
  request: FastifyRequest,
  { uid }: LocalUser,
  parts: ConsoleRouteParts,
  gone: AbortSignal,
): Promise<Readable> {
  const { write, take, force } = request.query as Record<'write' | 'take' | 'force', string | undefined>;
  const node = nodeOf(request, parts);
  const output = new PassThrough({ highWaterMark: mostWaiting });
  const say = (text: string) => void output.write(`\r\n[${text}]\r\n`);
  const seat = await parts.consoles.join(
    node,
    {
      output: (bytes) => {
        if (output.writableLength + output.readableLength < mostWaiting) output.write(bytes);
        else output.destroy();
      },
      ended: (why) => {
        say(`the console has ended: ${why}`);
        output.end();
      },
      unseated: () => say('somebody else has taken the keyboard; you only read'),
    },
    { takeOver: force === '1' },
  );
  const leave = () => void seat.leave();
  if (gone.aborted) leave();
  gone.addEventListener('abort', leave, { once: true });
  output.once('error', leave);
  const types = write === '1' && seat.sitAtKeyboard(take === '1');
  parts.log.info({ uid, nodeId: node.nodeId, types }, 'an operator is at a console');
  say(`${node.nodeId} by ${seat.by === 'ssh' ? 'SSH' : 'IPMI'}; ${rightsOf(write === '1', types)}`);
  if (request.body !== undefined) listen(request.body as Readable, (keys) => seat.type(keys), leave);
  return output;
}

function rightsOf(wanted: boolean, types: boolean): string {
  if (types) return 'you have the keyboard';
  return wanted ? 'somebody else types, you only read: --take takes the keyboard' : 'you only read';
}

/** A client that ends what it types may go on reading; one that breaks off is gone. */
function listen(typed: Readable, type: (keys: Buffer) => void, leave: () => void): void {
  typed.on('data', type).once('error', leave);
}

function nodeOf({ params }: FastifyRequest, { state }: ConsoleRouteParts): SiteNode {
  const { nodeId } = params as { nodeId: string };
  return requireNode(state.spec, nodeId);
}
