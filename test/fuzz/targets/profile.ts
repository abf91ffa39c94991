import { checkProfile, defineProfile, profileIssues } from '#contract/profiles.ts';
import { isRailheadError, json, parsedJson } from '../inputs.ts';
import type { FuzzTarget } from '../target.ts';

const profile = {
  name: 'p',
  version: '1',
  steps: [
    {
      use: 'power.setPower',
      with: { state: 'on' },
      timeout: '5m',
      retries: 2,
      when: 'gpu && !(rack in (a, b))',
    },
    { use: 'deploy.image', onFailure: 'fallback', fallback: [{ use: 'power.setPower' }] },
  ],
  cleanup: [],
  drivers: { power: 'redfish' },
  hostConfig: { sysctls: { 'vm.swappiness': '10' } },
};

/** A profile, as anybody may post one: its issues, or the first of them as a refusal. */
export const target: FuzzTarget = {
  seeds: [
    json(profile),
    json({ ...profile, steps: [] }),
    json({ ...profile, extends: 'q', hostConfig: { units: [] } }),
  ],
  longest: 262_144,
  run(input) {
    const document = parsedJson(input);
    const issues = profileIssues(document);
    try {
      checkProfile(document, 'INVALID_INPUT');
      if (issues.length > 0) throw new Error('it has issues and is accepted');
    } catch (error) {
      if (isRailheadError(error) && issues.length === 0) throw new Error('it is refused and has no issues');
      throw error;
    }
    defineProfile(document);
  },
  declares: isRailheadError,
};
