import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Report } from '../report.ts';
import { type Lab, type LabSite, openLab } from './lab.ts';

/** Opens a lab, runs `body` in it, and ends all of its processes. */
export async function withLab(report: Report, body: (lab: Lab) => Promise<void>): Promise<void> {
  report.phase('prepare');
  const lab = await openLab();
  try {
    await body(lab);
  } finally {
    report.phase('clean up');
    await lab.close();
  }
}

/** Looks every tenth of a second until `look` gives what is waited for; undefined when that takes too long. */
export async function eventually<Value>(
  look: () => Promise<Value | undefined>,
  timeoutMs = 20_000,
): Promise<Value | undefined> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await look().catch(() => undefined);
    if (found !== undefined || performance.now() > end) return found;
    await sleep(100);
  }
}

export interface HttpAnswer {
  status: number;
  body: { error?: { code: string; details?: { reason?: string } } } & Record<string, unknown>;
}

/** What a route of a site's or the centre's answers; with `shown`, to somebody who shows that certificate. */
export async function ask(
  url: string,
  options: { post?: object; shown?: { certificate: string; privateKey: string } } = {},
): Promise<HttpAnswer> {
  const { post, shown } = options;
  const identity = shown === undefined ? {} : { cert: shown.certificate, key: shown.privateKey };
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false, ...identity } });
  try {
    const answer = await request(url, {
      dispatcher,
      ...(post !== undefined && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(post),
      }),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as HttpAnswer['body'] };
  } finally {
    await dispatcher.close();
  }
}

export const emptyPoll = { protocol: 1, observedGeneration: 0, waitSeconds: 0, taken: [] };

export interface SiteStatus {
  identity: {
    expiresAt: string;
    renewals: number;
    trustNumber: number;
    revocationsNumber: number;
    revoked?: { at: string; message: string };
  };
}

export async function siteStatus({ adminUrl }: LabSite): Promise<SiteStatus> {
  return (await ask(`${adminUrl}/v1/status`)).body as unknown as SiteStatus;
}

/** A site as the centre's API shows it. */
export interface SiteRecord {
  siteId: string;
  seenAt?: string;
  agent?: { renewals: number; certificateExpiresAt?: string; revokedAt?: string; revokedWhy?: string };
  alarms: { reason: string; text: string }[];
}

export async function siteRecord({ call }: Lab, { siteId }: LabSite): Promise<SiteRecord | undefined> {
  const { data } = await call<{ items: SiteRecord[] }>('sites.list');
  return data.items.find((site) => site.siteId === siteId);
}
