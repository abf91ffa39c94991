import { AgentPoll, AgentPollAnswer, MachinePoll, MachineSecretRequest } from '#contract/agentWire.ts';
import { validateMessage } from '#contract/protocol.ts';
import { SecretAnswer, SecretRequest } from '#contract/secrets.ts';
import { isRailheadError, json, parsedJson } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const schemas = [AgentPoll, AgentPollAnswer, MachinePoll, MachineSecretRequest, SecretRequest, SecretAnswer];

/** Polls and their answers, in both directions; the first byte says which. */
export const target: FuzzTarget = {
  seeds: [
    { protocol: 1, observedGeneration: 0, waitSeconds: 30, taken: ['op_1'], bootId: 'b', trustNumber: 1 },
    {
      protocol: 1,
      spec: { nodeId: 'site-1', role: 'site', generation: 1, site: { cacheImages: [], nodes: [] } },
      operations: [
        {
          operationId: 'op_1',
          nodeId: 'n',
          action: 'power.getPower',
          target: 'site',
          input: {},
          timeoutSeconds: 5,
        },
      ],
      cancelled: [],
    },
    { waitSeconds: 5, taken: [] },
    { ref: 'secret://a/b' },
    { protocol: 1, secretIds: ['s'] },
    { protocol: 1, secrets: [{ secretId: 's', version: 1, sealed: 'a.b.c.d.e' }] },
  ].map((message, index) => Buffer.concat([Buffer.from([index]), json(message)])),
  longest: 262_144,
  run: (input) => validateMessage(schemas[(input[0] ?? 0) % schemas.length]!, parsedJson(input.subarray(1))),
  declares: isRailheadError,
};
