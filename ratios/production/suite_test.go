package production

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
	stored := &stored{kubernetes.NewForConfigOrDie(namespace.Config()), namespace.Name, "ratios"}
	remove := func() {
		if err := stored.client.CoreV1().ConfigMaps(namespace.Name).Delete(t.Context(), stored.name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	ratiotest.Run(t, func(t *testing.T) ratiotest.Source {
		remove()
		return ratiotest.Source{
			Provider: New(Config{Client: stored.client, Namespace: namespace.Name, Name: stored.name}),
			Write: func(l *ratios.Layer) {
				c := content{Published: measured.Published{NodeTypes: map[string]measured.Entry{}}}
				for name, r := range l.Ratios {
					if name != "n2d" {
						c.NodeTypes[name] = measured.Entry{State: pace.State{Baseline: "n2d", Ratio: r.CPUPerf}}
					}
				}
				data, err := measured.Format(c)
				if err != nil {
					t.Fatal(err)
				}
				stored.write(t, data)
			},
			Break: func() {
				stored.write(t, map[string]string{measured.Key: `{"suggestions": [{"nodeType": "n4", "cluster": {"ratio": -1}}]}`})
			},
			Remove:     remove,
			Optional:   true,
			OnlyRatios: true,
			RelativeTo: "n2d",
		}
	})
}

// stored is the ConfigMap of one provider, on a real API server.
type stored struct {
	client          kubernetes.Interface
	namespace, name string
}

// write writes data as a person would with kubectl.
func (s *stored) write(t *testing.T, data map[string]string) {
	t.Helper()
	api := s.client.CoreV1().ConfigMaps(s.namespace)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Data: data}
	_, err := api.Update(context.Background(), cm, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = api.Create(context.Background(), cm, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}
