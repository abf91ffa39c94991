/** One way in which a device is not as the standard says: a row of docs/hardware.md. */
export interface Quirk {
  device: string;
  /** What it does, where the standard says otherwise. */
  does: string;
  /** The reports, release notes or sightings that say so. */
  knownFrom: string;
  /** What Railhead does about it. */
  remedy: string;
  /** The test that shows it, by its title in `test/redfish/`. */
  shownBy: string;
}
