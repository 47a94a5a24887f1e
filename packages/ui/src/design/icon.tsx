// Line icons of the application, drawn on a grid of 16. They are decoration: their meaning is also
// in the text beside them.

const PATHS = {
  wave: 'M1 11c2 0 2-4 4.5-4S8 11 10.5 11 13 7 15 7',
  home: 'M2.5 7.5 8 3l5.5 4.5M4 7v6h8V7',
  explore: 'M2 13h12M3 10l3-4 3 2 4-5',
  dashboards: 'M2.5 2.5h5v4h-5zM9.5 2.5h4v7h-4zM2.5 8.5h5v5h-5zM9.5 11.5h4v2h-4z',
  tasks: 'M2.5 4h3v3h-3zM10.5 9h3v3h-3zM5.5 5.5h3v5h2',
  try: 'M5 3v10l8-5z',
  alerts: 'M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM7 14h2',
  recordings:
    'M8 13.5A5.5 5.5 0 1 0 8 2.5a5.5 5.5 0 0 0 0 11zM8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  write: 'M3 13l.7-3L11 2.7l2.3 2.3L6 12.3zM9.5 4.2l2.3 2.3',
  admin: 'M3 3.5h10v3H3zM3 9.5h10v3H3zM5 5h.01M5 11h.01',
  start: 'M8 1.5c2.5 2 3.5 4.5 2.5 8h-5c-1-3.5 0-6 2.5-8zM6 12v2M10 12v2M8 12v2.5',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5 14 14',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  down: 'M4 6l4 4 4-4',
  left: 'M10 4 6 8l4 4',
  right: 'M6 4l4 4-4 4',
  up: 'M4 10l4-4 4 4',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5M13 2.5v2.5h-2.5',
  stop: 'M4 4h8v8H4z',
  play: 'M5 3v10l8-5z',
  pause: 'M5 3.5v9M11 3.5v9',
  download: 'M8 2.5v8M4.5 7 8 10.5 11.5 7M3 13.5h10',
  upload: 'M8 10.5v-8M4.5 6 8 2.5 11.5 6M3 13.5h10',
  link: 'M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5 7.5 13a2.8 2.8 0 0 1-4-4L5 7.5',
  history: 'M3 8a5 5 0 1 1 1.5 3.5M3 13v-2.5h2.5M8 5v3l2 1.5',
  save: 'M3 3h8l2 2v8H3zM5.5 3v3h4V3M5 13V9h6v4',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 8.5h6l.5-8.5M7 7v4M9 7v4',
  copy: 'M5.5 5.5h7.5v7.5H5.5zM3 10.5V3h7.5',
  grip: 'M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01',
  resize: 'M13 7l-6 6M13 11l-2 2',
  fullscreen: 'M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3',
  undo: 'M3 6h6.5a3.5 3.5 0 0 1 0 7H6M3 6l3-3M3 6l3 3',
  edit: 'M3 13l.7-3L11 2.7l2.3 2.3L6 12.3z',
  eye: 'M1.5 8S4 4 8 4s6.5 4 6.5 4S12 12 8 12 1.5 8 1.5 8zM8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5h.01',
  warning: 'M8 2.5l6 11H2zM8 6.5v3.5M8 11.8h.01',
  error: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.5M8 11h.01',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  contrast: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 2v12',
  keyboard: 'M1.5 4.5h13v7.5h-13zM4 7h.01M6.5 7h.01M9 7h.01M11.5 7h.01M5 9.5h6',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  user: 'M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4',
  signOut: 'M6.5 13.5H3v-11h3.5M7 8h6.5M11 5l3 3-3 3',
  database: 'M3 4c0-2 10-2 10 0s-10 2-10 0zM3 4v8c0 2 10 2 10 0V4M3 8c0 2 10 2 10 0',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3-1.5V8.5z',
  columns: 'M2.5 3h11v10h-11zM8 3v10',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5',
  external: 'M9 3h4v4M13 3 7.5 8.5M11.5 9v4h-8.5V4.5H7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
