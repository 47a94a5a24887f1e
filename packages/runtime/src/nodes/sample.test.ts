// sample: some of the points.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test by count it begins with the first point of each group
script
    stream|from().measurement('m').groupBy('h')|sample(2)|httpOut('out')
write
    m,h=a v=1 0
    m,h=a v=2 1
    m,h=b v=3 2
    m,h=a v=4 3
emits sample2
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",1]]}
    {"columns":["time","v"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:02Z",3]]}
    {"columns":["time","v"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:03Z",4]]}

test by time it keeps the points at multiples
script
    stream|from().measurement('m')|sample(10s)|httpOut('out')
write
    m v=1 0
    m v=2 9
    m v=3 10
emits sample2
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:00Z",1]]}
    {"columns":["time","v"],"name":"m","values":[["1970-01-01T00:00:10Z",3]]}
`);
