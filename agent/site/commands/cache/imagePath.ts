/** The route of one image, or of what is done to it. */
export function imagePath(image: string, act?: string): string {
  return `/v1/cache/images/${encodeURIComponent(image)}${act === undefined ? '' : `/${act}`}`;
}
