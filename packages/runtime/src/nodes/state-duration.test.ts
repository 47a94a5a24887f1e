// stateDuration: for how long a condition has been true.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test it measures from the first point of the state, in units
script
    stream|from().measurement('m')|stateDuration(lambda: "v" > 5.0).unit(1m)|httpOut('out')
write
    m v=6 0
    m v=7 30
    m v=7 60
    m v=1 90
    m v=9 120
emits state_duration2
    {"columns":["time","state_duration","v"],"name":"m","values":[["1970-01-01T00:00:00Z",0,6]]}
    {"columns":["time","state_duration","v"],"name":"m","values":[["1970-01-01T00:00:30Z",0.5,7]]}
    {"columns":["time","state_duration","v"],"name":"m","values":[["1970-01-01T00:01:00Z",1,7]]}
    {"columns":["time","state_duration","v"],"name":"m","values":[["1970-01-01T00:01:30Z",-1,1]]}
    {"columns":["time","state_duration","v"],"name":"m","values":[["1970-01-01T00:02:00Z",0,9]]}
`);
