package fetch

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestConfigMap(t *testing.T) {
	t.Run("reads a ConfigMap again when it changes", readsAConfigMapAgainWhenItChanges)
}

func readsAConfigMapAgainWhenItChanges(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	config := namespace.Config()
	admin := kubernetes.NewForConfigOrDie(config)
	api := admin.CoreV1().ConfigMaps(namespace.Name)
	put := func(change func(*corev1.ConfigMap)) {
		t.Helper()
		cm, err := api.Get(t.Context(), "scores", metav1.GetOptions{})
		do(t, err)
		change(cm)
		_, err = api.Update(t.Context(), cm, metav1.UpdateOptions{})
		do(t, err)
	}
	feed := Feed{Name: "cm", Place: Place{ConfigMap: "scores", Key: "rows"}, Interval: time.Hour}

	p := pollIn(t, namespace.Name, admin, feed)
	p.wantErr(p.first(), "get ConfigMap scores, key rows: the ConfigMap does not exist in namespace "+namespace.Name)
	_, err := api.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "scores"}}, metav1.CreateOptions{})
	do(t, err)
	p.wantErr(p.after(time.Minute), "the ConfigMap does not have the key")
	put(func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"rows": "a\nb"} })
	p.wantErr(p.after(2*time.Minute), "")
	put(func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{"of": "no-interest"} })
	p.wantErr(p.after(time.Hour), "")
	p.wantDelivered("a b")
	put(func(cm *corev1.ConfigMap) { cm.Data, cm.BinaryData = nil, map[string][]byte{"rows": []byte("c")} })
	p.wantErr(p.after(time.Hour), "")
	p.wantDelivered("a b", "c")
	do(t, api.Delete(t.Context(), "scores", metav1.DeleteOptions{}))
	p.wantErr(p.after(time.Hour), "does not exist in namespace "+namespace.Name+"; the copy from 60m ago stays in effect")

	asUser := rest.CopyConfig(config)
	asUser.Impersonate.UserName = "nobody"
	p = pollIn(t, namespace.Name, kubernetes.NewForConfigOrDie(asUser), feed)
	p.wantErr(p.first(), "allow the server to get this ConfigMap")
}
