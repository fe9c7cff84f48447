package demand

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// logs is a source of containers whose page cache fills memory up to an amount.
type logs struct {
	*steady
	charged int64
}

func (l *logs) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	return l.steady.Read(ctx, since, until, func(s usage.Sample) {
		if s.Resource == history.Memory {
			s.Strain.Charged = usage.ValueOf(float64(l.charged))
		}
		observe(s)
	})
}

// logWriter returns a Deployment web that writes logs: its working set is 100Mi.
func logWriter(t *testing.T, wrote podtest.Amounts) (*fixture, *logs) {
	t.Helper()
	f := newFixture(t, following(), func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = wrote.Requirements()
		p.CreationTimestamp = metav1.NewTime(podtest.Start.Add(-10 * 24 * time.Hour))
		if wrote[0] == wrote[1] && wrote[2] == wrote[3] {
			p.Status.QOSClass = corev1.PodQOSGuaranteed
		}
	})
	l := &logs{steady: f.source}
	f.sources[0].Source.Source = l
	return f, l
}

func TestCharged(t *testing.T) {
	const mib = 1 << 20
	for name, wrote := range map[string]podtest.Amounts{
		"a limit above its request": {"1", "2", "1Gi", "2Gi"},
		"a Guaranteed pod":          {"1", "1", "2Gi", "2Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			f, l := logWriter(t, wrote)
			guaranteed := wrote[2] == wrote[3]
			has := sizing.Amount{Request: 1024 * mib, Limit: 2048 * mib}
			if guaranteed {
				has.Request = has.Limit
			}
			began := has
			l.charged = has.Limit // The page cache fills the limit for a week.
			for range 7 * 24 {
				f.round(t)
				next := f.planned(t, has)
				if next.Request > has.Request || next.Limit > has.Limit {
					t.Fatalf("%+v grows to %+v", has, next)
				}
				has = next
				clustertest.Clock(f.of).Step(time.Hour)
			}
			f.round(t)
			if has.Limit != began.Limit {
				t.Errorf("%d MiB with %d MiB charged", has.Limit/mib, l.charged/mib)
			}
			if !guaranteed && has.Request > 200*mib {
				t.Errorf("a request of %d MiB, because of the page cache", has.Request/mib)
			}
			l.charged = 600 * mib // The logs are rotated.
			for range 3 {
				clustertest.Clock(f.of).Step(10 * time.Minute)
				f.round(t)
			}
			least := int64(660 * mib)
			lowered := f.planned(t, sizing.Amount{Request: began.Request, Limit: began.Limit})
			if lowered.Limit < least || lowered.Limit > least+2*mib {
				t.Errorf("%d MiB with %d MiB charged, want %d MiB", lowered.Limit/mib, l.charged/mib, least/mib)
			}
			l.charged = 100 * mib
			for range 3 {
				clustertest.Clock(f.of).Step(10 * time.Minute)
				f.round(t)
			}
			if again := f.planned(t, sizing.Amount{Request: began.Request, Limit: began.Limit}); again.Limit >= lowered.Limit {
				t.Errorf("%d MiB with hardly any page cache, and %d MiB before", again.Limit/mib, lowered.Limit/mib)
			}
		})
	}
	t.Run("what is charged is known for a few minutes", func(t *testing.T) {
		f, l := logWriter(t, podtest.Amounts{"1", "2", "1Gi", "2Gi"})
		l.charged = 2048 * mib
		f.round(t)
		_, now := f.demandOf("web-1-x").Of("app")
		if now.Charged < 2048*mib || now.Charged > 2049*mib {
			t.Errorf("%d bytes are charged", now.Charged)
		}
		if now.Used > 101*mib {
			t.Errorf("%d bytes are in use", now.Used)
		}
		clustertest.Clock(f.of).Step(20 * time.Minute)
		if _, now := f.demandOf("web-1-x").Of("app"); now.Charged != 0 {
			t.Errorf("%d bytes are charged 20 minutes after the last sample", now.Charged)
		}
	})
}
