package benchmark

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestProvider(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	api := client.CoreV1().ConfigMaps(namespace.Name)
	const name = "ratios"
	write := func(data map[string]string) {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
		_, err := api.Update(context.Background(), cm, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			_, err = api.Create(context.Background(), cm, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remove := func() {
		if err := api.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	ratiotest.Run(t, func(t *testing.T) ratiotest.Source {
		remove()
		return ratiotest.Source{
			Provider: New(Config{Client: client, Namespace: namespace.Name, SettingsName: "settings", StateName: name, SamplesPrefix: "samples-"}),
			Write: func(l *ratios.Layer) {
				p := measured.Published{NodeTypes: map[string]measured.Entry{}}
				for name, r := range l.Ratios {
					if name != "n2d" {
						p.NodeTypes[name] = measured.Entry{State: pace.State{Baseline: "n2d", Ratio: r.CPUPerf}}
					}
				}
				data, err := measured.Format(p)
				if err != nil {
					t.Fatal(err)
				}
				write(data)
			},
			Break:      func() { write(map[string]string{measured.Key: `{"nodeTypes": {"n4": {"ratio": -1}}}`}) },
			Remove:     remove,
			Optional:   true,
			OnlyRatios: true,
			RelativeTo: "n2d",
		}
	})
}
