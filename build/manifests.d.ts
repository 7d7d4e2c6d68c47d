type Release = {
  readonly description: string;
  readonly version: string;
  readonly license: string;
  readonly url: string;
};
type File = { readonly target: string; readonly file: string; readonly sha256: string };
export function formula(release: Release, files: readonly File[]): string;
export function scoopManifest(release: Release, files: readonly File[]): string;
