import { version } from '#base/version.ts';
import { type Trouble, troubles } from '#bootserver/troubles.ts';
import type { CacheOverview } from '#cache/operator.ts';
import { hookRefusals } from '../bmcEvents/hookListener.ts';
import type { AdminParts } from './routes.ts';

/** The figures of a site in Prometheus' text format, version 0.0.4. */
export function metrics({ state, cache, seen, siteId, kept, troubles: counts }: AdminParts): string {
  const { journal, entries, events } = state;
  const images = Map.groupBy(cache.inventory().images, (image) => image.state);
  const rows = [
    family('bcd_info', 'What runs here.', [[`{site="${siteId}",version="${version}"}`, 1]]),
    family('bcd_certificate_expires_seconds', "When the site's certificate ends, in seconds since 1970.", [
      ['', Date.parse(kept.current.expiresAt) / 1000],
    ]),
    family('bcd_revoked', 'Whether the centre has revoked this site.', [
      ['', kept.current.revoked === undefined ? 0 : 1],
    ]),
    family('bcd_operations_open', 'Operations that have not ended, by who carries them out.', [
      ['{target="site"}', journal.open('site').length],
      ['{target="ramdisk"}', journal.open('ramdisk').length],
    ]),
    family('bcd_results_untold', 'Results that the centre has not taken.', [['', journal.untold()]]),
    family('bcd_events_dropped', 'Events that were dropped untold since the start: there were too many.', [
      ['', events.dropped()],
    ]),
    family('bcd_machines_seen', 'Machines that were seen on the boot network.', [['', seen.all().length]]),
    family(
      'bcd_bmc_events_refused',
      'What was posted as an event of a BMC without the token of one, since the start.',
      [['', hookRefusals.count]],
    ),
    family('bcd_sightings_ignored', 'Sightings of new strangers that were passed over: too many came.', [
      ['', seen.ignored],
    ]),
    family('bcd_boot_entries', 'Machines that boot a ramdisk next.', [['', entries.all().length]]),
    family(
      'bcd_boot_troubles',
      'How often machines were kept from booting here since the start, by why.',
      Object.keys(troubles).map((name) => [`{trouble="${name}"}`, counts.of(name as Trouble)]),
    ),
    family(
      'bcd_images',
      'Images of the cache, by state.',
      [...images].map(([name, rows]) => [`{state="${name}"}`, rows.length]),
    ),
    ...cacheFamilies(cache.operator.overview()),
  ];
  return rows.join('');
}

function cacheFamilies({ heldBytes, quotaBytes, damages, troubles, scrub }: CacheOverview): string[] {
  return [
    family('bcd_cache_bytes', 'What the images of the cache take.', [['', heldBytes]]),
    family('bcd_cache_quota_bytes', 'The most that they may take.', [['', quotaBytes]]),
    family(
      'bcd_cache_damaged',
      'Images that were found damaged since the start: bit rot, or a disk that fails.',
      [['', damages]],
    ),
    family('bcd_cache_disk_faults', "What the cache's disk has refused since the start.", [
      ['', troubles.reduce((sum, { times }) => sum + times, 0)],
    ]),
    family('bcd_cache_scrubbed_bytes', 'What was read again of held images since the start.', [
      ['', scrub?.totalBytes ?? 0],
    ]),
  ];
}

function family(name: string, help: string, samples: [labels: string, value: number][]): string {
  const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`;
}
