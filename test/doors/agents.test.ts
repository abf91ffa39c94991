import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentsRoutes } from '#central/agents/routes.ts';
import { defaultRates } from '#central/rates.ts';
import { newSite as newSiteAt, startTestCentre, type TestCentre } from '../central/centre.ts';
import { joinAs } from '../central/fakeSite.ts';
import { attemptsAtAgents } from '../e2e/intruder/agents.ts';
import { type Attempt, success } from '../e2e/intruder/attempt.ts';
import { lootAgents } from '../e2e/intruder/centres.ts';

let centres: TestCentre[];
let attempts: Attempt[];

beforeAll(async () => {
  centres = [await startTestCentre(), await startTestCentre()];
  const [own, foreign] = centres.map(({ directory, central }) => ({ directory, ...central }));
  const { siteId, joinToken: usedToken } = await newSiteAt(own!.directory, 'north');
  await joinAs(own!.agentsUrl, 'site', siteId, usedToken);
  attempts = await attemptsAtAgents(own!.agentsUrl, await lootAgents(own!, foreign!, { siteId, usedToken }));
});
afterAll(() => Promise.all(centres.map((centre) => centre.close())));

const rows = agentsRoutes({} as never, defaultRates.agent, new AbortController().signal);

test.each(rows.map(({ method, path }) => `${method} ${path}`))('nobody gets in at %s', async (route) => {
  const tries = attempts.filter((attempt) => attempt.route === route);
  expect(tries.length).toBeGreaterThan(0);
  const got = [];
  for (const attempt of tries) got.push(await success(attempt));
  expect(got.filter(Boolean)).toEqual([]);
});
