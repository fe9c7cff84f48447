package override

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var began = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// stored is one ConfigMap of a real API server, controlled by the test.
type stored struct {
	namespace *localcluster.Namespace
	client    kubernetes.Interface
	name      string
}

func TestStore(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	n := 0
	next := func() *stored { n++; return &stored{namespace, client, fmt.Sprintf("overrides-%d", n)} }
	t.Run("keeps the contract of providers", func(t *testing.T) {
		ratiotest.Run(t, func(t *testing.T) ratiotest.Source {
			s := next()
			return ratiotest.Source{
				Provider: New(client, namespace.Name, s.name),
				Write: func(l *ratios.Layer) {
					data, _, err := format(content{overrides: permanent(l.Ratios)})
					if err != nil {
						t.Fatal(err)
					}
					s.write(t, data)
				},
				Break:      func() { s.write(t, map[string]string{Key: "overrides: {n4: {cpuPerf: fast}}"}) },
				Remove:     func() { s.remove(t) },
				Optional:   true,
				OnlyRatios: true,
			}
		})
	})
	for _, tc := range []struct {
		name string
		test func(*testing.T, *stored)
	}{
		{"the rights of deploy/base suffice, and applying it again deletes nothing", deployed},
		{"an override takes effect immediately on its replica, and soon on the others", inForce},
		{"writers of two replicas do not undo each other's changes", atTheSameTime},
		{"of two writers with the same etag one wins", sameEtag},
		{"a batch is set as a whole or not at all", allOrNone},
		{"a patch applies to the content that is stored when it is written", changedBetween},
		{"a patch of an expired override starts from the other sources", expiredBetween},
		{"every change is logged", logged},
		{"never writes content that it cannot read back", unreadable},
		{"validation does everything except for the write", checked},
		{"does not write a layer that the check rejects", forbidden},
		{"deleting reports a missing override", deleted},
		{"a rollback undoes a delete, a batch and a rollback", rolledBack},
		{"a rollback does not restore expired overrides", rolledBackExpiry},
		{"a rollback expects an expiry that is not stored yet", rolledBackAfterExpiry},
		{"overrides end when they expire, and one replica records it then", expires},
		{"a temporary override falls back to the permanent one that it replaced", fallsBack},
		{"a rollback restores what an expired override would have fallen back to", rolledBackFallback},
		{"an update changes nothing about an override that keeps its values", unchanged},
		{"a request that is sent again changes nothing again, and its ID is its own", sentAgain},
		{"a permanent override has nothing to fall back to", permanentAgain},
		{"a missing ConfigMap has no overrides, and stores none", missing},
		{"invalid content leaves the last good overrides in effect, and is not overwritten", broken},
		{"distinguishes refusals of the API server from temporary errors", refused},
		{"rejects overrides that do not fit", full}, // The Makefile names this test.
		{"a read-only store writes nothing", readOnly},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, next()) })
	}
}

// write writes data as a person would with kubectl; nil means no data.
func (s *stored) write(t *testing.T, data map[string]string) {
	t.Helper()
	api := s.client.CoreV1().ConfigMaps(s.namespace.Name)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Data: data}
	_, err := api.Update(context.Background(), cm, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(context.Background(), cm, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stored) read(t *testing.T) content {
	t.Helper()
	cm, err := s.client.CoreV1().ConfigMaps(s.namespace.Name).Get(t.Context(), s.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := parse(cm.Data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *stored) remove(t *testing.T) {
	t.Helper()
	if err := s.client.CoreV1().ConfigMaps(s.namespace.Name).Delete(context.Background(), s.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// replica is a store, and the table that results from it and a configuration.
type replica struct {
	*Store
	table *ratios.Store
}

// run runs a replica until the test ends.
func (s *stored) run(t *testing.T, opts ...Option) *replica {
	t.Helper()
	return s.runIn(context.Background(), t, opts...)
}

// runIn is like run, with the logger of a context.
func (s *stored) runIn(ctx context.Context, t *testing.T, opts ...Option) *replica {
	t.Helper()
	return running(ctx, t, New(s.client, s.namespace.Name, s.name, opts...))
}

func running(ctx context.Context, t *testing.T, store *Store) *replica {
	t.Helper()
	base := ratiotest.NewMemory("configmap", ratios.Update{Layer: &ratios.Layer{
		Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
	}})
	r := &replica{store, ratios.NewStore(store, base)}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- r.table.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	localcluster.Eventually(t, "the first report", func() error { return reported(r.table) })
	return r
}

// reported returns nil after the overrides were reported for the first time.
func reported(s *ratios.Store) error {
	if err := s.Sources()[0].Err; err != nil && err.Error() == "not read yet" {
		return err
	}
	return nil
}

// cpu returns the cpu performances of the overrides in effect.
func (r *replica) cpu() map[string]float64 {
	all := map[string]float64{}
	if table := r.table.Table(); table != nil {
		for _, nodeType := range table.NodeTypes() {
			entry, _ := table.Lookup(nodeType)
			if entry.Ratio.Provenance.Source == Source {
				all[nodeType] = entry.Ratio.CPUPerf
			}
		}
	}
	return all
}

// await waits until the watch has put these overrides into effect.
func (r *replica) await(t *testing.T, want map[string]float64) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("overrides %v", want), func() error {
		if got := r.cpu(); !cmp.Equal(got, want) {
			return fmt.Errorf("overrides %v", got)
		}
		return r.table.Sources()[0].Err
	})
}

// set returns a patch that sets the cpu performance of a node type, with or without an override.
func set(nodeType string, cpu float64) Patch {
	return Patch{NodeType: nodeType, CPUPerf: &cpu, AllowMissing: true, Default: func(string) (ratios.Ratio, bool) { return ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}, true }}
}

func (r *replica) mustUpdate(t *testing.T, request Request, patches ...Patch) *Change {
	t.Helper()
	c, err := r.Update(t.Context(), patches, request)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// etag returns the etag of the override in effect.
func (r *replica) etag(nodeType string) string {
	overrides, err := r.Overrides()
	if o, ok := overrides[nodeType]; ok && err == nil {
		return Etag(nodeType, &o)
	}
	return Etag(nodeType, nil)
}

// permanent returns overrides that have nothing to fall back to.
func permanent(all map[string]ratios.Ratio) map[string]Override {
	overrides := map[string]Override{}
	for nodeType, r := range all {
		overrides[nodeType] = Override{Ratio: r}
	}
	return overrides
}
