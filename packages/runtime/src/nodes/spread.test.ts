// spread: the distance between the smallest and the largest value.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the distance between the smallest and the largest value
script
    stream|from().measurement('m')|window().period(10s).every(10s)|spread('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits spread3
    {"columns":["time","spread"],"name":"m","values":[["1970-01-01T00:00:10Z",3]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|spread('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits spread2
write
    m,h=a v=9 1
emits spread2
    {"columns":["time","spread"],"name":"m","values":[["1970-01-01T00:00:00Z",3]]}
`);
