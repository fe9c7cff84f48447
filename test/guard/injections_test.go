package guard

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// injection is a way in which a lower size hurts.
type injection struct {
	name string
	// work is what the container does from then on.
	work string
	// shows returns when the status began to show that it hurts; zero if it does not, and now or
	// earlier if it has just begun to. Nil means that only a source of usage shows it, from the injection
	// on, and interval is how often that is asked.
	shows    func(*course) time.Time
	interval time.Duration
	// back is the size that the pod must get.
	back string
}

// injections are all of them. Lack of memory says nothing about cpu, so only memory is reverted.
var injections = []*injection{oom, crashLoop, neverReady}

var (
	oom = &injection{
		name: "oom", work: "{cpu: 10m, memory: 90Mi}", back: loweredCPU + " " + memory,
		shows: func(c *course) time.Time {
			if at := killedAt(statusOf(c.pod)); at.After(c.injected.Truncate(time.Second)) || at.Equal(c.injected.Truncate(time.Second)) {
				return at
			}
			return time.Time{}
		},
	}
	crashLoop = &injection{
		name: "crash-loop", work: "{cpu: 10m, memory: 16Mi, job: {coreSeconds: 0.001, exitCode: 1}}", back: cpu + " " + memory,
		shows: func(c *course) time.Time {
			if statusOf(c.pod).RestartCount >= c.restarts+2 {
				return c.injected
			}
			return time.Time{}
		},
	}
	neverReady = &injection{
		name: "unready", work: "{cpu: 10m, memory: 16Mi, ready: {lost: [{at: 0s, for: 1000h}]}}", back: cpu + " " + memory,
		shows: func(c *course) time.Time {
			for _, condition := range c.pod.Status.Conditions {
				if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionFalse {
					return condition.LastTransitionTime.Add(unready)
				}
			}
			return time.Time{}
		},
	}
)

// killedAt returns when a container was last killed for lack of memory; zero if it was not.
func killedAt(status corev1.ContainerStatus) time.Time {
	for _, state := range []corev1.ContainerState{status.State, status.LastTerminationState} {
		if state.Terminated != nil && state.Terminated.Reason == "OOMKilled" {
			return state.Terminated.FinishedAt.Time
		}
	}
	return time.Time{}
}

// inject makes the resizes of pods hurt.
func (s *suite) inject(t *testing.T, pods []course, what *injection) {
	t.Helper()
	for i := range pods {
		s.seen.inject(pods[i], what)
		s.work(t, &pods[i], what.work)
	}
}

// reverts returns what a pod records to have been reverted: for each resource how often.
func reverts(c *course) (times map[string]int, err error) {
	text := c.pod.Annotations[revertedKey]
	if text == "" {
		return nil, nil
	}
	var all []struct {
		Resource string `json:"resource"`
		Times    int    `json:"times"`
	}
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("annotation %s: %w", revertedKey, err)
	}
	times = map[string]int{}
	for _, r := range all {
		times[r.Resource] += r.Times
	}
	return times, nil
}

// revertedOnce returns an error unless a pod has its former size, and records that exactly this
// was reverted once.
func revertedOnce(c *course) error {
	times, err := reverts(c)
	if err != nil {
		return err
	}
	want := map[string]int{}
	if !strings.HasSuffix(c.what.back, " "+loweredMemory) {
		want["memory"] = 1
	}
	if strings.HasPrefix(c.what.back, cpu+" ") {
		want["cpu"] = 1
	}
	if sizesOf(c.pod) != c.what.back || !maps.Equal(times, want) {
		return fmt.Errorf("%s was reverted %v times, want %v and the size %s", c, times, want, c.what.back)
	}
	return nil
}
