package chaos

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// firstPause is the documented first pause after a failure. Each further pause is twice
// as long.
const firstPause = 500 * time.Millisecond

// growingPauses makes one step of each pod fail every time.
func (s *suite) growingPauses(t *testing.T) {
	const tries = 5
	w := newWorld(t, s.config, simpleTable("1.25"), "n4", "n2d")
	var mu sync.Mutex
	written := map[target][]time.Time{}
	never := map[target]localcluster.Action{}
	proxy := localcluster.ProxyForTest(t, s.config, func(write localcluster.Write) localcluster.Action {
		mu.Lock()
		defer mu.Unlock()
		at := targetOf(write)
		written[at] = append(written[at], time.Now())
		return never[at]
	})
	for node, steps := range [][]string{{"originals", "resize", "applied"}, {"record"}} {
		for _, step := range steps {
			for _, action := range []localcluster.Action{
				localcluster.AnswerInternalError, localcluster.AnswerConflict, localcluster.AnswerForbidden,
				localcluster.AnswerInvalid, localcluster.CutBefore,
			} {
				name := step + "-" + strings.ReplaceAll(action.String(), " ", "-")
				never[target{w.create(t, plain, name, &shapes[0], node), step}] = action
			}
		}
	}
	w.awaitRunning(t)
	w.start(t, s.through(proxy), s.through(proxy))
	localcluster.Eventually(t, fmt.Sprintf("all steps to be tried %d times", tries), func() error {
		mu.Lock()
		defer mu.Unlock()
		for at := range never {
			if got := len(written[at]); got < tries {
				return fmt.Errorf("step %s of %s was tried %d times", at.step, at.pod, got)
			}
		}
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	for at, times := range written {
		if _, fails := never[at]; !fails && len(times) > 1 {
			t.Errorf("step %s of %s, which does not fail, was written %d times", at.step, at.pod, len(times))
		}
		for i, pause := 1, firstPause; i < len(times); i, pause = i+1, 2*pause {
			if got := times[i].Sub(times[i-1]); got < pause {
				t.Errorf("step %s of %s was tried again after %v, want at least %v", at.step, at.pod, got, pause)
			}
		}
	}
}
