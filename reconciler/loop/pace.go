package loop

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// pace is how quickly pods are resized that can wait.
type pace struct {
	// perSecond is the number of turns per second; 0 means no limit.
	perSecond float64
	// freedPerHour is the share of what all nodes have for pods that resizes may free within an hour;
	// 0 means no limit.
	freedPerHour float64
}

// longestPause is the longest time between turns, no matter how low the rate is.
const longestPause = 24 * time.Hour

// pause returns the time between turns; 0 means that pods do not wait for each other.
func (p pace) pause() time.Duration {
	if p.perSecond == 0 {
		return 0
	}
	return time.Duration(min(float64(time.Second)/p.perSecond, float64(longestPause)))
}

// pace returns the pace that the configuration sets now.
func (l *Loop) pace() pace {
	configured := keys.Defaults[policy.Pace]()
	if table := l.Ratios.Table(); table != nil {
		configured = table.Pace
	}
	perSecond, freedPerHour := configured.Rates(l.ResizesPerSecond)
	return pace{perSecond, freedPerHour}
}

// followPace lets the pods that wait follow the pace of the configuration, which may have changed.
func (l *Loop) followPace(ctx context.Context, before pace) pace {
	now := l.pace()
	if l.Ratios.Table() == nil {
		return before
	}
	// The workers may have seen a pace between both that had no limit.
	if l.Leads() && !l.pacer.counts() {
		l.pacer.recall(l.recall())
	}
	if now == before {
		return before
	}
	klog.FromContext(ctx).Info("New pace", "resizesPerSecond", now.perSecond, "freedPerHour", now.freedPerHour)
	l.pacer.wake()
	return now
}

// Waits says why a pod that nothing prevents from being resized is not resized yet; empty if it does not
// wait for its turn. Other pods that wait are not mentioned: a caller may not be allowed to see them.
func (l *Loop) Waits(p *plan.Plan) string {
	switch {
	case l.DryRun || !p.Paced():
		return ""
	case l.Leads():
		return l.pacer.waits(p.Pod)
	}
	return l.pacer.rates().waits(p.Frees()) // Only the leader knows whose turn it is.
}

// waits says why a pod waits for its turn; empty if it does not.
func (p *pacer) waits(pod types.NamespacedName) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.follow()
	t, now := p.byPod[pod], p.clock.Now()
	if t == nil || t.line == nil {
		return ""
	}
	// The first pod in line goes first, even if a later one would fit.
	if first := t.line.first(); !p.freed.fits(first.frees, p.pace.freedPerHour, now) {
		return fmt.Sprintf("what resizes have freed within the last hour leaves too little of %s: the pod is resized %s",
			p.pace.share(), when(p.freed.fitsAt(first.frees, p.pace.freedPerHour, now)))
	}
	if p.pause == 0 {
		return ""
	}
	if t.failed {
		return p.pace.rate() + ", and the last attempt failed, so other pods come first"
	}
	return p.pace.rate()
}

// waits says what a pod may wait for that frees this much; empty if it does not wait.
func (p pace) waits(frees node.Resources) string {
	var texts []string
	if p.perSecond > 0 {
		texts = append(texts, p.rate())
	}
	if p.freedPerHour > 0 && frees != (node.Resources{}) {
		texts = append(texts, "within an hour, resizes may free as much as "+p.share()+" allows")
	}
	return strings.Join(texts, "; ")
}

func (p pace) rate() string {
	return fmt.Sprintf("pods that can wait are resized at %s per second (pace.resizesPerSecond)", strconv.FormatFloat(p.perSecond, 'g', -1, 64))
}

func (p pace) share() string {
	return fmt.Sprintf("pace.freedPerHour (%.4g%% of all nodes)", 100*p.freedPerHour)
}

// when returns a time from which something may happen.
func when(at time.Time) string {
	if at.IsZero() {
		return "once the leader has counted what was freed before"
	}
	return "at " + at.UTC().Format(time.RFC3339) + " or later"
}
