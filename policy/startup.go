package policy

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Startup is how much more cpu the containers of a pod get while it starts.
type Startup struct {
	// CPU raises what each container needs, and its limit with it. CPULimit raises the limit alone.
	CPU, CPULimit sizing.Boost
	// AfterReady is how long that lasts after the pod has become ready, and AtMost how long after its start, ready or not.
	AfterReady, AtMost time.Duration
}

// Boosts reports whether pods get more while they start.
func (s *Startup) Boosts() bool { return s.CPU.Raises() || s.CPULimit.Raises() }

// LongestStart is the longest time for which the start of a pod may be boosted.
const LongestStart = time.Hour

// Keys implements keys.Section.
func (s *Startup) Keys() []keys.Key {
	return []keys.Key{
		keys.Of("cpu", &s.CPU, boost, sizing.Boost{}, "how much more cpu a container gets than it needs otherwise: `3x` is three times as much, and `+500m` is half a core of the baseline more, before it is scaled for the node. `1x` is no more, for a rule that must not have the value of the globals. The limit keeps its proportion to the request, or is higher. Bounds apply. Containers get nothing without a request for cpu, if a change to it restarts them, or if another actor set it. A pod that is [sized at its creation](sizes.md#at-creation) starts with it, any other gets it once its containers run. If there is no room for it, the pod gets what it needs without it").Or("none"),
		keys.Of("cpuLimit", &s.CPULimit, boost, sizing.Boost{}, "how much more a container's limit for cpu gets than otherwise, while its request stays or is raised by `cpu`. It takes no room on the node. Containers without a limit and Guaranteed pods get nothing").Or("none"),
		keys.Of("afterReady", &s.AfterReady, keys.Duration(0, LongestStart), 0, "how long it keeps that after its pod has become ready; less than `atMost`. Pods without readiness probes are ready when they run, so set this for them. Keep it short for pods that a HorizontalPodAutoscaler scales by cpu").Or("0s"),
		keys.Of("atMost", &s.AtMost, keys.Duration(time.Second, LongestStart), 5*time.Minute, "how long it keeps that after the start of its pod, even if the pod is not ready. The end waits for no turn, canary, budget, schedule or breaker. Pauses and freezes prevent it. Nodes that cannot resize pods never take back what a pod got at its creation: virtual nodes, kubelets before Kubernetes 1.33, and for Guaranteed pods the static CPU manager. Do not set `startup` for pods that may run there"),
	}
}

// The largest boosts. No start needs more, so that these are typos.
const (
	mostTimes = 100
	mostMore  = 1_000_000
	// perTime is how exact factors are.
	perTime = 1000
)

// boost is a factor or an amount of cpu.
var boost = keys.Parsed("a factor from `1x` to `100x`, or a quantity from `+1m` to `+1000`", boostText, func(text string) (sizing.Boost, error) {
	number, multiplies := strings.CutSuffix(text, "x")
	amount, adds := strings.CutPrefix(text, "+")
	times, err := strconv.ParseFloat(number, 64)
	more, fault := sizing.ParseCPU(amount)
	switch {
	case multiplies && err == nil && strings.Trim(number, "0123456789.") == "" && times >= 1 && times <= mostTimes:
		thousandths := uint64(math.Round(times * perTime))
		if times > 1 {
			thousandths = max(thousandths, perTime+1) // Only 1x raises nothing.
		}
		return sizing.Boost{Factor: sizing.Factor{Num: thousandths, Den: perTime}}, nil
	case adds && fault == nil && !strings.HasPrefix(amount, "+") && more >= 1 && more <= mostMore:
		return sizing.Boost{More: more}, nil
	}
	return sizing.Boost{}, errors.New("must be a factor from 1x to 100x, such as 3x, or an amount of cpu to add from +1m to +1000, such as +500m")
})

// boostText returns a boost as users write it.
func boostText(b sizing.Boost) string {
	if b.More > 0 {
		return "+" + sizing.CPUText(b.More)
	}
	return strconv.FormatFloat(b.Factor.Float64(), 'g', -1, 64) + "x"
}
