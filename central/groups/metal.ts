import Type from 'typebox';
import { hasController } from '#contract/bmcBinding.ts';
import { RailheadError } from '#contract/errors.ts';
import { TenantId } from '#contract/images.ts';
import type { BmcBinding } from '#contract/nodeSpec.ts';
import type { Profile } from '#contract/profiles.ts';
import { DiskHints, PowerAction } from '#contract/steps.ts';
import { WipeMode } from '#contract/wipe.ts';
import { itemScopes, tenantScopes } from '../api/grants.ts';
import { type ApiContext, type Group, method } from '../api/method.ts';
import type { Caller } from '../api/tokens.ts';
import { confirmMac } from '../metal/discovery.ts';
import { Enroll, enrollNode } from '../metal/enroll.ts';
import { runShipped, type ShippedMethod } from '../metal/run.ts';
import { SetBmc, setBmc } from '../metal/setBmc.ts';
import { nodeIdPattern, presentNode, requireNode } from '../nodes.ts';
import {
  defaultReleaseMode,
  enrollWithPassword,
  powerProfile,
  releaseProfile,
  rotateProfile,
} from '../profiles/builtin.ts';
import { requireProfile } from '../profiles/find.ts';
import { discoveryTopic, nodeTopic, siteTopic } from '../signals.ts';
import { parseJson } from '../store/store.ts';
import { startWorkflow } from '../workflows/start.ts';

const closed = { additionalProperties: false };
const NodeId = Type.String({ pattern: nodeIdPattern });
const OneNode = Type.Object({ tenantId: TenantId, nodeId: NodeId }, closed);

const Deploy = Type.Object(
  {
    tenantId: TenantId,
    nodeId: NodeId,
    profileId: Type.String({ maxLength: 128 }),
    profileVersion: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Which disk to write, before what the profile's step says. */
    disk: Type.Optional(DiskHints),
  },
  closed,
);
const Undeploy = Type.Object(
  {
    tenantId: TenantId,
    nodeId: NodeId,
    mode: Type.Enum([...WipeMode.enum], { default: defaultReleaseMode }),
  },
  closed,
);
const ConfirmMac = Type.Object(
  { tenantId: TenantId, nodeId: NodeId, mac: Type.String({ maxLength: 32 }) },
  closed,
);
const Power = Type.Object({ tenantId: TenantId, nodeId: NodeId, action: PowerAction }, closed);

type NodeInput = { tenantId: string; nodeId: string };
const nodeScopes = ({ tenantId, nodeId }: NodeInput) => itemScopes('compute-node', nodeId, tenantId);

/** A method that runs what ships for it on one node. */
function shipped(name: ShippedMethod) {
  return method({
    kind: 'mutation',
    action: `compute:metal:${name}`,
    input: OneNode,
    scopes: nodeScopes,
    run: async (context, { tenantId, nodeId }, caller) =>
      runShipped(context, name, await requireNode(context.store, tenantId, nodeId), caller),
  });
}

/** What is done to machines. Everything that drives one is a workflow; docs/metal.md has the states. */
export const metal: Group = {
  enroll: method({
    kind: 'mutation',
    action: 'compute:metal:enroll',
    input: Enroll,
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: (context, input, caller) => enroll(context, input, caller),
  }),
  confirmMac: method({
    kind: 'mutation',
    action: 'compute:metal:enroll',
    input: ConfirmMac,
    scopes: nodeScopes,
    run: async ({ store, signals }, { tenantId, nodeId, mac }) => {
      const node = await requireNode(store, tenantId, nodeId);
      await confirmMac(store, node, mac);
      signals.notify(siteTopic(node.site_id), discoveryTopic(node.site_id), nodeTopic(nodeId));
      return presentNode(store, node);
    },
  }),
  setBmc: method({
    kind: 'mutation',
    action: 'compute:metal:enroll',
    input: SetBmc,
    // Never a grant on the node alone: any secret of the tenant can be named, and is sent to where the BMC is said to be.
    scopes: ({ tenantId }) => tenantScopes(tenantId),
    run: (context, input, caller) => replaceBmc(context, input, caller),
  }),
  inspect: shipped('inspect'),
  commission: shipped('commission'),
  deploy: method({
    kind: 'mutation',
    action: 'compute:metal:deploy',
    input: Deploy,
    scopes: nodeScopes,
    run: (context, input, caller) => deploy(context, input, caller),
  }),
  undeploy: method({
    kind: 'mutation',
    action: 'compute:metal:undeploy',
    input: Undeploy,
    scopes: nodeScopes,
    run: async (context, { tenantId, nodeId, mode }, caller) => {
      const node = await requireNode(context.store, tenantId, nodeId);
      return runShipped(context, 'undeploy', node, caller, releaseProfile(mode));
    },
  }),
  rescue: shipped('rescue'),
  unrescue: shipped('unrescue'),
  retire: shipped('retire'),
  power: method({
    kind: 'mutation',
    action: 'compute:metal:power',
    input: Power,
    scopes: nodeScopes,
    run: async (context, { tenantId, nodeId, action }, caller) => {
      const node = await requireNode(context.store, tenantId, nodeId);
      const profile = powerProfile(action);
      return startWorkflow(context, { node, profile, caller });
    },
  }),
};

/** A machine with a BMC is asked at once which one it is; its node is `enrolling` until then. */
async function enroll(context: ApiContext, input: Enroll, caller: Caller) {
  const { store, signals } = context;
  const nodeId = await enrollNode(context, input);
  const node = await requireNode(store, input.tenantId, nodeId);
  const bmc = parseJson<BmcBinding>(node.bmc);
  if (input.bmc?.changePassword === true)
    await startWorkflow(context, { node, profile: enrollWithPassword, method: 'enroll', caller });
  else if (bmc !== undefined && hasController(bmc)) await runShipped(context, 'enroll', node, caller);
  signals.notify(siteTopic(input.siteId));
  return presentNode(store, await requireNode(store, input.tenantId, nodeId));
}

async function replaceBmc(context: ApiContext, input: SetBmc, caller: Caller) {
  const { store, signals } = context;
  const { tenantId, nodeId, bmc } = input;
  await setBmc(context, input, `token ${caller.tokenId}`);
  const node = await requireNode(store, tenantId, nodeId);
  signals.notify(siteTopic(node.site_id), nodeTopic(nodeId));
  if (bmc?.changePassword === true) await startWorkflow(context, { node, profile: rotateProfile, caller });
  return presentNode(store, node);
}

async function deploy(context: ApiContext, input: Type.Static<typeof Deploy>, caller: Caller) {
  const { tenantId, nodeId, profileId, profileVersion, disk } = input;
  const node = await requireNode(context.store, tenantId, nodeId);
  const { profile, row } = await requireProfile(context, tenantId, profileId, profileVersion);
  const why = whyNotDeployed(profile);
  if (why !== undefined)
    throw new RailheadError('INVALID_INPUT', `profile ${profileId} ${why}`, { path: 'profileId' });
  return startWorkflow(context, { node, profile, profileRow: row, method: 'deploy', disk, caller });
}

/** Why a profile is none to deploy a machine by. What its steps write, mount or boot is theirs to say. */
function whyNotDeployed({ target, entry, steps = [] }: Profile): string | undefined {
  if (target !== 'metal') return `is for ${target}, not for machines`;
  if (entry === 'adopt') return 'adopts machines, and deploys nothing';
  return steps.length === 0 ? 'has no steps that would deploy anything' : undefined;
}
