// Dashboards: the list, or the one in the address.
import './dashboards.css';
import { route } from '../../app/router.ts';
import { DashboardList } from './list.tsx';
import { ShownDashboard } from './shown.tsx';

export function Page() {
  const id = route.value.params.get('id') ?? '';
  return id === '' ? <DashboardList /> : <ShownDashboard key={id} id={id} />;
}
