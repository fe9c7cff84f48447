package demand

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/compare"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// run adds the pods of a workload to the cluster of a fixture, with these labels.
func (f *fixture) run(t *testing.T, namespace, kind, name string, pods int, labels map[string]string) {
	t.Helper()
	var all []*pod.Pod
	for i := range pods {
		all = append(all, pod.From(podtest.Pod(podtest.Guaranteed, clustertest.Named(namespace, fmt.Sprint(name, "-", i), "a"), func(p *corev1.Pod) {
			p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name, p.Labels = kind, name, maps.Clone(labels)
			if labels != nil {
				p.Labels["statefulset.kubernetes.io/pod-name"] = p.Name
			}
		})))
	}
	if err := f.of.Know(all, nil); err != nil {
		t.Fatal(err)
	}
}

// everything sees all namespaces.
func everything(namespaces ...string) ([]string, error) { return namespaces, nil }

// keysOf returns the keys of StatefulSets, given their namespaces and names.
func keysOf(of ...[2]string) (all []evidence.Key) {
	for _, w := range of {
		all = append(all, compare.KeyOf(w[0], "StatefulSet", w[1]))
	}
	return all
}

// TestNamesOfCompared checks that the keys of the evidence lead to workloads that exist, and which labels tell their pods from others.
func TestNamesOfCompared(t *testing.T) {
	for name, tc := range map[string]struct {
		labels, others map[string]string
		want           label
	}{
		"the usual label":                       {map[string]string{"app": "db", "app.kubernetes.io/name": "db"}, map[string]string{"app": "web"}, label{"app.kubernetes.io/name", "db"}},
		"another one if others share that":      {map[string]string{"app": "db", "app.kubernetes.io/name": "db"}, map[string]string{"app.kubernetes.io/name": "db"}, label{"app", "db"}},
		"any label with its name":               {map[string]string{"example.com/service": "db", "version": "1"}, nil, label{"example.com/service", "db"}},
		"none that passes":                      {map[string]string{"version": "1", "pod-template-hash": "db"}, nil, label{}},
		"none if others have all of its labels": {map[string]string{"app": "db"}, map[string]string{"app": "db", "more": "1"}, label{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, clustertest.Published())
			f.run(t, "bank", "StatefulSet", "db", 2, tc.labels)
			f.run(t, "bank", "DaemonSet", "other", 1, tc.others)
			f.run(t, "elsewhere", "StatefulSet", "db", 1, tc.labels)
			key := keysOf([2]string{"bank", "db"})[0]
			got, err := f.Compared([]evidence.Key{key}, everything)
			if err != nil || len(got) != 1 {
				t.Fatalf("%v, %v", got, err)
			}
			c := got[key]
			if c.Namespace != "bank" || c.Kind != "StatefulSet" || c.Name != "db" || c.Pod.NamespacedName().Name != "db-0" || (label{c.Key, c.Value}) != tc.want || c.Alone {
				t.Errorf("%+v, want %+v", c, tc.want)
			}
		})
	}
	t.Run("no label that only some of its pods have", func(t *testing.T) {
		f := newFixture(t, clustertest.Published())
		f.run(t, "bank", "StatefulSet", "db", 1, map[string]string{"app": "db"})
		before, err := f.Compared(keysOf([2]string{"bank", "db"}), everything)
		if err != nil || before[keysOf([2]string{"bank", "db"})[0]].Key != "app" {
			t.Fatalf("%v, %v", before, err)
		}
		f.run(t, "bank", "StatefulSet", "db", 3, nil)
		f.run(t, "bank", "StatefulSet", "db", 2, map[string]string{"app": "db"})
		after, err := f.Compared(keysOf([2]string{"bank", "db"}), everything)
		if c := after[keysOf([2]string{"bank", "db"})[0]]; err != nil || c.Key != "" || !c.Alone {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

// TestComparedAreVisible checks that nobody learns of workloads in namespaces that they cannot see, nor of those that are gone or not compared.
func TestComparedAreVisible(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.run(t, "bank", "StatefulSet", "db", 1, map[string]string{"app": "db"})
	f.run(t, "shop", "StatefulSet", "db", 1, map[string]string{"app": "db"})
	f.run(t, "other", "StatefulSet", "db", 1, nil)
	asked := keysOf([2]string{"bank", "db"}, [2]string{"shop", "db"}, [2]string{"shop", "gone"}, [2]string{"bank", "agent"})
	got, err := f.Compared(asked, func(namespaces ...string) ([]string, error) {
		if !slices.Equal(namespaces, []string{"bank", "shop"}) {
			t.Errorf("asked about %q", namespaces)
		}
		return []string{"shop"}, nil
	})
	if err != nil || len(got) != 1 || got[asked[1]] == nil {
		t.Errorf("%v, %v", got, err)
	}
	unknown := errors.New("not now")
	if _, err := f.Compared(asked, func(...string) ([]string, error) { return nil, unknown }); !errors.Is(err, unknown) {
		t.Errorf("%v", err)
	}
	if got, err := f.Compared(nil, func(...string) ([]string, error) { return nil, unknown }); len(got) > 0 || err != nil {
		t.Errorf("of no keys: %v, %v", got, err)
	}
}
