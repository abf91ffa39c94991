import { constants } from 'node:crypto';
import type { Server, ServerOptions } from 'node:https';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { AgentPoll } from '#contract/agentWire.ts';
import { JoinRequest } from '#contract/join.ts';
import { validate } from '#contract/validate.ts';
import { answerErrors } from '../api/answers.ts';
import type { CentralContext } from '../context.ts';
import { issueServer } from '../join/authority.ts';
import { answerJoin } from '../join/join.ts';
import { wellKnown } from '../join/pins.ts';
import { answerRejoin, RejoinRequest } from '../join/rejoin.ts';
import { authenticateAgent, siteOf } from './identity.ts';
import { answerPoll } from './poll.ts';
import { takeReport } from './report.ts';
import { ReportEnvelope } from './reportSchema.ts';

/** Reports carry whole inventories and joins. */
const bodyLimit = 8 * 1024 * 1024;
/** How long a client may take to send its request, in milliseconds. */
const requestTimeout = 30_000;
const certificateValidMs = 90 * 24 * 3_600_000;
/** The server's certificate is made anew at every start and well before it ends. */
const certificateRenewalMs = 24 * 3_600_000;

/**
 * The agents' door: TLS by a certificate of the centre's CA for `names`. Joining needs a token; `/v1/agent/*` needs the
 * client certificate that the join gave. Everything else is denied. `stop` ends the long polls.
 */
export async function openAgentsServer(
  context: CentralContext,
  names: readonly string[],
  stop: AbortSignal,
): Promise<FastifyInstance> {
  const tls = await serverTls(context, names);
  const server = fastify({
    https: tls,
    bodyLimit,
    requestTimeout,
    forceCloseConnections: true,
  }) as unknown as FastifyInstance;
  answerErrors(server, context.log);
  renewCertificate(context, server, names, stop);
  joinRoutes(context, server);
  agentRoutes(context, server, stop);
  return server;
}

function joinRoutes(context: CentralContext, server: FastifyInstance): void {
  server.get('/.well-known/bcd.json', () => wellKnown(context.keys));
  server.post('/v1/join', async (request, reply) => {
    const jws = await answerJoin(context, validate(JoinRequest, request.body));
    return reply.type('application/jose').send(jws);
  });
  server.post('/v1/rejoin', async (request) => ({
    data: await answerRejoin(context, validate(RejoinRequest, request.body)),
  }));
}

function agentRoutes(context: CentralContext, server: FastifyInstance, stop: AbortSignal): void {
  server.post('/v1/agent/poll', async (request, reply) => {
    const agent = await authenticateAgent(context.store, request);
    const poll = validate(AgentPoll, request.body);
    return answerPoll(context, agent, poll, AbortSignal.any([stop, goneSignal(reply)]));
  });
  server.post('/v1/agent/report', async (request) => {
    const siteId = siteOf(await authenticateAgent(context.store, request));
    await takeReport(context, siteId, validate(ReportEnvelope, request.body));
    return { data: {} };
  });
}

/** Aborts when the client hangs up, so that an abandoned long poll ends. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}

async function serverTls({ keys }: CentralContext, names: readonly string[]): Promise<ServerOptions> {
  const uri = 'urn:railhead:central';
  const issued = await issueServer(keys.authority, { uri, names, validMs: certificateValidMs });
  return {
    key: issued.privateKey,
    cert: `${issued.certificate.trim()}\n${keys.authority.certificate}`,
    ca: keys.authority.certificate,
    minVersion: 'TLSv1.2',
    requestCert: true,
    // A joining agent has no certificate yet: each route says what it needs.
    rejectUnauthorized: false,
    // A resumed session would skip the look at the certificate.
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

function renewCertificate(
  context: CentralContext,
  server: FastifyInstance,
  names: readonly string[],
  stop: AbortSignal,
): void {
  const renew = async () => {
    const https = server.server as unknown as Server;
    https.setSecureContext(await serverTls(context, names));
  };
  const timer = setInterval(() => {
    renew().catch((error) => context.log.error({ err: error }, 'the server certificate was not renewed'));
  }, certificateRenewalMs).unref();
  stop.addEventListener('abort', () => clearInterval(timer));
}
