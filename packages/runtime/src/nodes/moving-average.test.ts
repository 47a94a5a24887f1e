// movingAverage: mean of the last values.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test it begins when there are enough of them
script
    stream|from().measurement('m')|movingAverage('v', 2)|httpOut('out')
write
    m v=1 0
    m v=3 1
    m v=8 2
emits movingAverage2
    {"columns":["time","movingAverage"],"name":"m","values":[["1970-01-01T00:00:01Z",2]]}
    {"columns":["time","movingAverage"],"name":"m","values":[["1970-01-01T00:00:02Z",5.5]]}
`);
