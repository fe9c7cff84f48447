package configmap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/configmap"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// configMap is one ConfigMap of a real API server, controlled by the test.
type configMap struct {
	t               *testing.T
	client          kubernetes.Interface
	namespace, name string
}

func (c *configMap) write(data map[string]string) {
	c.t.Helper()
	api := c.client.CoreV1().ConfigMaps(c.namespace)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: c.name}, Data: data}
	_, err := api.Update(context.Background(), cm, metav1.UpdateOptions{FieldManager: "tester"})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(context.Background(), cm, metav1.CreateOptions{FieldManager: "tester"})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *configMap) remove() {
	c.t.Helper()
	if err := c.client.CoreV1().ConfigMaps(c.namespace).Delete(context.Background(), c.name, metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// yaml returns a layer as hand-written YAML.
func yaml(l *ratios.Layer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "baselineNodeType: %s\nnodeTypes:\n", l.Baseline)
	for name, r := range l.Ratios {
		fmt.Fprintf(&b, "  %s: {cpuPerf: %v, memPerf: %v}\n", name, r.CPUPerf, r.MemoryPerf)
	}
	bounds := &l.Settings.Values.Bounds
	fmt.Fprintf(&b, "bounds:\n  cpu: {min: %dm, max: %dm}\n  memory: {min: %d}\n", bounds.CPU.Min, bounds.CPU.Max, bounds.Memory.Min)
	return b.String()
}

func TestProvider(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	count := 0
	newConfigMap := func(t *testing.T) *configMap {
		count++
		return &configMap{t, client, namespace.Name, fmt.Sprintf("config-%d", count)}
	}

	t.Run("keeps the contract of providers", func(t *testing.T) {
		ratiotest.Run(t, func(t *testing.T) ratiotest.Source {
			c := newConfigMap(t)
			return ratiotest.Source{
				Provider: configmap.New(client, namespace.Name, c.name, nil, nil),
				Write:    func(l *ratios.Layer) { c.write(map[string]string{configmap.Key: yaml(l)}) },
				Break:    func() { c.write(map[string]string{configmap.Key: "baselineNodeType: nowhere"}) },
				Remove:   c.remove,
			}
		})
	})

	good := map[string]string{configmap.Key: "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}}"}
	t.Run("records who wrote a ratio and when", func(t *testing.T) {
		c := newConfigMap(t)
		begin := time.Now().Add(-time.Second)
		c.write(good)
		// A label that another manager sets does not change the ratios.
		if _, err := client.CoreV1().ConfigMaps(namespace.Name).Patch(context.Background(), c.name, types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{FieldManager: "labeler"}); err != nil {
			t.Fatal(err)
		}
		u := await(t, configmap.New(client, namespace.Name, c.name, nil, nil), func(u ratios.Update) bool { return u.Layer != nil })
		p := u.Layer.Ratios["a"].Provenance
		if p.Source != "configmap" || p.Author != "tester" || p.UpdateTime.Before(begin.Truncate(time.Second)) || p.UpdateTime.After(time.Now()) {
			t.Errorf("provenance %+v", p)
		}
	})
	t.Run("keeps the provenance of an unchanged ratio when others change", func(t *testing.T) {
		c := newConfigMap(t)
		write := func(b float64, manager string) {
			t.Helper()
			patch := fmt.Sprintf(`{"data":{%q:"baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}, b: {cpuPerf: %v, memPerf: 1}}"}}`, configmap.Key, b)
			if _, err := client.CoreV1().ConfigMaps(namespace.Name).Patch(context.Background(), c.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}); err != nil {
				t.Fatal(err)
			}
		}
		c.write(good)
		write(2, "first")
		reported, wrote := 0, ""
		await(t, configmap.New(client, namespace.Name, c.name, nil, nil), func(u ratios.Update) bool {
			switch reported++; reported {
			case 1:
				write(0, "first") // An invalid version in between has no effect.
			case 2:
				write(3, "second")
			case 3:
				wrote = u.Layer.Ratios["a"].Provenance.Author + " " + u.Layer.Ratios["b"].Provenance.Author
			}
			return reported == 3
		})
		if wrote != "first second" {
			t.Errorf("a and b were written by %s", wrote)
		}
	})
	t.Run("passes on rejected content with the error", func(t *testing.T) {
		for _, tc := range []struct {
			data map[string]string
			want string
		}{
			{map[string]string{"config.yml": ""}, `key "config.yaml" is missing`},
			{map[string]string{configmap.Key: "bounds: {cpu: {min: 2, max: 1}}"}, "bounds.cpu: line 1: min 2 > max 1"},
		} {
			c := newConfigMap(t)
			c.write(tc.data)
			var mu sync.Mutex
			var rejected []string
			p := configmap.New(client, namespace.Name, c.name, func(cm *corev1.ConfigMap, err error) {
				mu.Lock()
				defer mu.Unlock()
				rejected = append(rejected, cm.Name+": "+err.Error())
			}, nil)
			u := await(t, p, func(u ratios.Update) bool { return u.Err != nil })
			if !strings.Contains(u.Err.Error(), "ConfigMap "+namespace.Name+"/"+c.name+": ") || !strings.Contains(u.Err.Error(), tc.want) {
				t.Errorf("reported %v", u.Err)
			}
			mu.Lock()
			if len(rejected) != 1 || !strings.HasPrefix(rejected[0], c.name+": ") || !strings.Contains(rejected[0], tc.want) {
				t.Errorf("passed on %q", rejected)
			}
			mu.Unlock()
		}
	})
	t.Run("passes on which ratios are implausible, and reports the content", func(t *testing.T) {
		c := newConfigMap(t)
		c.write(map[string]string{configmap.Key: "baselineNodeType: a\nnodeTypes: {a: {cpuPerf: 1, memPerf: 1}, b: {cpuPerf: 125, memPerf: 1}}"})
		var mu sync.Mutex
		var implausible []string
		p := configmap.New(client, namespace.Name, c.name, nil, func(cm *corev1.ConfigMap, err error) {
			mu.Lock()
			defer mu.Unlock()
			implausible = append(implausible, cm.Name+": "+err.Error())
		})
		u := await(t, p, func(u ratios.Update) bool { return u.Layer != nil })
		if u.Err != nil || u.Layer.Ratios["b"].CPUPerf != 125 {
			t.Errorf("reported %+v", u)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(implausible) != 1 || !strings.HasPrefix(implausible[0], c.name+": implausible ratio: b would be 125 times as fast as a for cpu, ") {
			t.Errorf("passed on %q", implausible)
		}
	})
	t.Run("reports why the first read failed", func(t *testing.T) {
		nobody := rest.AnonymousClientConfig(namespace.Config())
		u := await(t, configmap.New(kubernetes.NewForConfigOrDie(nobody), namespace.Name, "config", nil, nil), func(u ratios.Update) bool { return u.Err != nil })
		if !strings.Contains(u.Err.Error(), "forbidden") && !strings.Contains(u.Err.Error(), "Unauthorized") {
			t.Errorf("reported %v", u.Err)
		}
	})
}

// await runs the provider until a report meets the condition.
func await(t *testing.T, p ratios.Provider, wanted func(ratios.Update) bool) ratios.Update {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	found := make(chan ratios.Update, 1)
	if err := p.Run(ctx, func(u ratios.Update) {
		if wanted(u) {
			select {
			case found <- u:
				cancel()
			default:
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatal("not reported")
	}
	return <-found
}
