import type { CentralOptions } from '#central/start.ts';
import type { Operation } from '#contract/operations.ts';
import { type Call, startTestCentre } from './centre.ts';
import type { FakeSite } from './fakeSite.ts';
import {
  enroll,
  type FakeMachine,
  joinLine,
  type Line,
  playLine,
  prepareLine,
  startSite,
  templatesFolder,
} from './line.ts';
import { sampleProfile } from './sampleProfile.ts';

/** A centre, a site that plays its part, and one enrolled machine, `node-1`. */
export interface Stage {
  line: Line;
  site: FakeSite;
  machines: Map<string, FakeMachine>;
  /** Calls with a token of these grants. */
  tokenFor(...grants: string[]): Promise<Call>;
  close(): Promise<void>;
}

/** Sees an operation before the site plays it, and answers true when it took it over. */
export type Before = Parameters<typeof playLine>[2];

export async function setStage(
  before?: Before,
  profile: object = sampleProfile,
  options: Partial<CentralOptions> = {},
): Promise<Stage> {
  const centre = await startTestCentre({ userData: { templates: await templatesFolder() }, ...options });
  const { call, central, directory } = centre;
  const line = await prepareLine({ call, agentsUrl: central.agentsUrl, directory }, profile);
  const machines = new Map<string, FakeMachine>();
  const site = await startSite(line, await joinLine(line), playLine(central.agentsUrl, machines, before));
  await enroll(line, 'node-1', '52:54:00:00:00:01');
  const close = async () => {
    await site.stop();
    await centre.close();
  };
  return { line, site, machines, tokenFor: centre.tokenFor, close };
}

/** Takes `action` over: the machine's part is played by `act`. */
export function instead(
  action: string,
  act: (operation: Operation, site: FakeSite) => Promise<void> | void,
): Before {
  return async (operation, at) => {
    if (operation.action !== action) return false;
    await act(operation, at);
    return true;
  };
}

/** The report that an operation failed. */
export function failedWith(
  { operationId }: Operation,
  code: 'DRIVER_ERROR' | 'INVALID_STATE',
  reason: string,
) {
  const error = { code, message: reason, details: { reason } };
  return {
    results: [{ operationId, outcome: 'failed' as const, error, finishedAt: new Date().toISOString() }],
  };
}
