import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '#bootserver/http/answer.ts';
import { privateImage } from '#bootserver/http/images.ts';
import { readRequest } from '#bootserver/http/request.ts';
import { send } from '#bootserver/http/send.ts';
import { Transfers } from '#bootserver/http/transfers.ts';
import { type MachineImageAnswer, MachineImageRequest } from '#contract/agentWire.ts';
import { RailheadError } from '#contract/errors.ts';
import { validate } from '#contract/validate.ts';
import { type Route, route } from '#doors/routes.ts';
import { isOpenImage } from '../cache/privacy.ts';
import type { Session } from '../store/sessions.ts';
import { type ImageGrant, type ImageQuery, type ImageUrls, openImageUrls } from './imageUrl.ts';
import type { MachineParts } from './parts.ts';

/** Images that are sent at a time, over TLS: each holds two buffers while its machine reads. */
const transfers = 32;
/** A machine that takes no byte for so long, in milliseconds, is cut off. */
const stallMs = 30_000;

/** Where a machine reads the image that it is deployed from, and its bytes where they are not for anybody else. */
export function imageRoutes(parts: MachineParts, session: (request: FastifyRequest) => Session): Route[] {
  const urls = openImageUrls();
  const limits = { transfers: new Transfers(transfers), stallMs };
  const bytes = (method: 'GET' | 'HEAD') =>
    route<ImageGrant>({
      method,
      path: '/v1/images/sha256/:digest',
      admit: (request) => grantOf(request, urls, parts),
      answer: async (request, { digest }, reply) => {
        const asked = readRequest(request.raw);
        if (asked === undefined) throw new RailheadError('INVALID_INPUT', 'no path', {});
        await sendHijacked(await privateImage(asked, digest, parts.images), method, reply, limits);
        return reply;
      },
    });
  return [
    route<Session>({
      method: 'POST',
      path: '/v1/machine/image',
      admit: session,
      answer: ({ body, ip, socket }, caller) =>
        giveImageUrl(body, { caller, peer: ip, reachedAt: socket.localAddress }, urls, parts),
    }),
    bytes('GET'),
    bytes('HEAD'),
  ];
}

interface Asking {
  caller: Session;
  peer: string;
  /** Which address of ours. */
  reachedAt: string | undefined;
}

/**
 * `POST /v1/machine/image`: the URL of an image that an open operation for this machine names.
 * @throws RailheadError NOT_FOUND for the digest of no such operation
 */
function giveImageUrl(
  body: unknown,
  { caller, peer, reachedAt }: Asking,
  urls: ImageUrls,
  { state, imagesUrlAt }: MachineParts,
): MachineImageAnswer {
  const { digest } = validate(MachineImageRequest, body);
  const { nodeId, claimedBy } = caller;
  const isNamed = state.journal
    .open('ramdisk', nodeId)
    .some(({ operation }) => (operation.input as { digest?: unknown }).digest === digest);
  if (!isNamed)
    throw new RailheadError('NOT_FOUND', `no operation for this machine names the image ${digest}`, {
      path: 'digest',
    });
  if (isOpenImage(digest, state)) return { url: `${imagesUrlAt(reachedAt)}/sha256/${digest}` };
  const { url, expiresAt } = urls.mint({ digest, nodeId, claimedBy, peer }, Date.now());
  return { url, expiresAt: new Date(expiresAt).toISOString() };
}

/** @throws RailheadError FORBIDDEN, reason `image-url`: it is another machine's, has ended, or was made before the agent's last start */
function grantOf(request: FastifyRequest, urls: ImageUrls, { state }: MachineParts): ImageGrant {
  const { digest } = request.params as { digest: string };
  const {
    node = '',
    expires = '',
    signature = '',
  } = request.query as Partial<Record<keyof ImageQuery, unknown>>;
  const query = { node: String(node), expires: String(expires), signature: String(signature) };
  const session = state.sessions.byNode(query.node);
  if (session !== undefined) {
    const { nodeId, claimedBy } = session;
    const grant = { digest, nodeId, claimedBy, peer: request.ip };
    if (urls.isGood(query, grant, Date.now())) return grant;
  }
  throw new RailheadError('FORBIDDEN', 'this URL is not good for this machine now: ask for a new one', {
    reason: 'image-url',
  });
}

/** Sends as the boot listener does, with its length, its bound on those at a time, and its patience. */
async function sendHijacked(
  answer: Answer,
  method: 'GET' | 'HEAD',
  reply: FastifyReply,
  limits: Parameters<typeof send>[3],
): Promise<void> {
  reply.hijack();
  try {
    await send(answer, method, reply.raw, limits);
  } catch (error) {
    reply.raw.destroy(error as Error);
  } finally {
    await answer.release?.();
  }
}
