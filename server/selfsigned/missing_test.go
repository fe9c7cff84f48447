package selfsigned

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func notReady(t *testing.T, k *Keeper, why string) {
	t.Helper()
	localcluster.Eventually(t, "the Keeper not to be ready: "+why, func() error {
		err := k.Ready()
		if err == nil || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("got %w", err)
		}
		if _, err := k.GetCertificate(nil); err == nil {
			return errors.New("there is a certificate")
		}
		return nil
	})
}

func testMissing(t *testing.T, admin kubernetes.Interface, namespace string) {
	o := newObjects(t, admin, namespace, "missing")
	remove := func() error {
		return errors.Join(admin.CoreV1().Secrets(namespace).Delete(t.Context(), o.name, metav1.DeleteOptions{}),
			admin.CoreV1().ConfigMaps(namespace).Delete(t.Context(), o.name, metav1.DeleteOptions{}))
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	k := start(t, o.config(admin))
	notReady(t, k, "Secret "+namespace+"/missing does not exist: apply deploy/base/tls.yaml")
	o.createSecret()
	notReady(t, k, "ConfigMap "+namespace+"/missing does not exist: apply deploy/base/tls.yaml")
	o.createConfigMap()
	o.settled(k)
	served := o.bundle()
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the problem that an object is missing", func() error {
		if err := k.Problem(); err == nil || !strings.Contains(err.Error(), "does not exist") {
			return fmt.Errorf("got %w", err)
		}
		_, err := o.call(k, served)
		return err
	})
}

func testDryRun(t *testing.T, admin kubernetes.Interface, namespace string) {
	o := newObjects(t, admin, namespace, "dry")
	config := o.config(admin)
	config.DryRun = true
	k := start(t, config)
	localcluster.Eventually(t, "a certificate that is not stored", func() error {
		if err := k.Problem(); err == nil || !strings.Contains(err.Error(), "--dry-run writes none") {
			return fmt.Errorf("got %w", err)
		}
		return k.Ready()
	})
	if o.bundle() != "" || len(o.secret().Data) > 0 {
		t.Error("the dry run has written")
	}
	writer := start(t, o.config(admin))
	o.settled(writer, k)
}
