import type { FastifyRequest } from 'fastify';
import { AgentPoll } from '#contract/agentWire.ts';
import { JoinRequest, RenewRequest } from '#contract/join.ts';
import { validateMessage } from '#contract/protocol.ts';
import { SecretRequest } from '#contract/secrets.ts';
import { validate } from '#contract/validate.ts';
import { type Rate, RateLimiter } from '#doors/rateLimiter.ts';
import { anyone, type Route, route } from '#doors/routes.ts';
import type { CentralContext } from '../context.ts';
import { answerJoin } from '../join/join.ts';
import { wellKnown } from '../join/pins.ts';
import { answerRejoin, RejoinRequest } from '../join/rejoin.ts';
import { answerRenewal } from '../join/renew.ts';
import { gatherContacts } from './contacts.ts';
import { createHeldPolls } from './heldPolls.ts';
import { authenticateAgent, identityUri, siteOf } from './identity.ts';
import { answerPoll } from './poll.ts';
import { takeReport } from './report.ts';
import { ReportEnvelope } from './reportSchema.ts';
import { answerSecrets } from './secrets.ts';

/** Bytes of a report, which carries whole inventories and joins. */
const reportLimit = 8 * 1024 * 1024;

/** Everything that the agents' listener serves. `agentRate`: of one agent that has joined. `stop` ends the long polls. */
export function agentsRoutes(context: CentralContext, agentRate: Rate, stop: AbortSignal): Route[] {
  return [...joinRoutes(context), ...agentRoutes(context, agentRate, stop)];
}

/** What needs no certificate: a join shows a token instead, a renewal the proof of the agent's key. */
function joinRoutes(context: CentralContext): Route[] {
  return [
    route({
      method: 'GET',
      path: '/.well-known/bcd.json',
      admit: anyone,
      answer: () => wellKnown(context.keys),
    }),
    route({
      method: 'POST',
      path: '/v1/join',
      admit: anyone,
      answer: async ({ body }, _caller, reply) => {
        const jws = await answerJoin(context, validateMessage(JoinRequest, body));
        return reply.type('application/jose').send(jws);
      },
    }),
    route({
      method: 'POST',
      path: '/v1/renew',
      admit: anyone,
      answer: async ({ body }, _caller, reply) => {
        const jws = await answerRenewal(context, validateMessage(RenewRequest, body).proof);
        return reply.type('application/jose').send(jws);
      },
    }),
    route({
      method: 'POST',
      path: '/v1/rejoin',
      admit: anyone,
      answer: async ({ body }) => ({ data: await answerRejoin(context, validate(RejoinRequest, body)) }),
    }),
  ];
}

/** What needs the client certificate that the join gave. */
function agentRoutes(context: CentralContext, agentRate: Rate, stop: AbortSignal): Route[] {
  const agent = (request: FastifyRequest) => authenticateAgent(context.store, request);
  const site = async (request: FastifyRequest) => siteOf(await agent(request));
  const limiter = new RateLimiter(agentRate);
  const contacts = gatherContacts(context.store);
  const polls = createHeldPolls(stop);
  const agentAllowance = { limiter, keyOf: identityUri };
  const siteAllowance = { limiter, keyOf: (id: string) => identityUri({ role: 'site', id }) };
  return [
    route({
      method: 'POST',
      path: '/v1/agent/poll',
      admit: agent,
      allowance: agentAllowance,
      answer: ({ body }, caller, reply) => {
        const poll = validateMessage(AgentPoll, body);
        return polls.hold(reply, poll.waitSeconds * 1000, (patience) =>
          answerPoll(context, contacts, caller, poll, patience),
        );
      },
    }),
    route({
      method: 'POST',
      path: '/v1/agent/secrets',
      admit: site,
      allowance: siteAllowance,
      answer: ({ body }, siteId) => answerSecrets(context, siteId, validateMessage(SecretRequest, body)),
    }),
    route({
      method: 'POST',
      path: '/v1/agent/report',
      admit: agent,
      allowance: agentAllowance,
      bodyLimit: reportLimit,
      answer: async ({ body }, caller) => {
        await takeReport(context, caller, validateMessage(ReportEnvelope, body));
        return { data: {} };
      },
    }),
  ];
}
