package hold

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// BenchmarkPut changes one hold among others, on a real API server.
func BenchmarkPut(b *testing.B) {
	namespace := localcluster.NamespaceForTest(b)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	for _, holds := range []int{10, 1400} {
		b.Run(fmt.Sprintf("among %d holds", holds), func(b *testing.B) {
			name := fmt.Sprintf("holds-%d", holds)
			pause := func(n int) Hold {
				pod := fmt.Sprintf("web-6d4cf56db6-%05d", n)
				return Hold{Kind: Pause, Scope: Scope{Namespace: fmt.Sprintf("shop-%d", n%20), Pod: pod, UID: types.UID(pod)}, Author: fmt.Sprintf("author-%d", n%20), Since: began}
			}
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: dataOf(b, holds, pause)}
			if _, err := client.CoreV1().ConfigMaps(namespace.Name).Create(b.Context(), cm, metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
			store := running(b, New(client, namespace.Name, name))
			localcluster.Eventually(b, "the holds", func() error { _, err := store.Ready(); return err })
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				h := pause(0)
				h.Reason = fmt.Sprint("change ", n)
				n++
				if _, err := store.Put(b.Context(), h); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func dataOf(b *testing.B, holds int, hold func(int) Hold) map[string]string {
	data := map[string]string{}
	for n := range holds {
		text, err := format(hold(n))
		if err != nil {
			b.Fatal(err)
		}
		data[dataKey(hold(n))] = text
	}
	return data
}
