package loop

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
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
	var configured ratios.Pace
	if table := l.Ratios.Table(); table != nil {
		configured = table.Pace
	}
	perSecond, freedPerHour := configured.Rates(l.RealignRate)
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
