// Tasks: the list, one task in full, or a new one, depending on the address.
import { route } from '../../app/router.ts';
import { Instances } from './instances.tsx';
import { TaskDetail } from './task-detail.tsx';
import { TaskList } from './task-list.tsx';
import './tasks.css';

export function Page() {
  const { params } = route.value;
  const id = params.get('id');
  if (id !== null) return <TaskDetail key={id} id={id} />;
  if (params.get('new') !== null) return <TaskDetail key="new" id={undefined} />;
  if (params.get('tab') === 'instances') return <Instances />;
  return <TaskList />;
}
