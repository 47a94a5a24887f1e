// sum: the sum of the values.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the sum of the values
script
    stream|from().measurement('m')|window().period(10s).every(10s)|sum('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits sum3
    {"columns":["time","sum"],"name":"m","values":[["1970-01-01T00:00:10Z",9]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|sum('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits sum2
write
    m,h=a v=9 1
emits sum2
    {"columns":["time","sum"],"name":"m","values":[["1970-01-01T00:00:00Z",9]]}
`);
