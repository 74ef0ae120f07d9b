/** Formats a whole number as in '871,414'. The first call of `toLocaleString` takes 10 to 30 ms. */
export function grouped(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
