package charts

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// kept are ConfigMaps with data that cannot be created again.
var kept = []string{contract.DefaultNames.Overrides, contract.DefaultNames.Holds, contract.DefaultNames.BenchmarkRatios, contract.DefaultNames.ProductionRatios, contract.DefaultNames.SamplesPrefix + "0", contract.DefaultNames.SamplesPrefix + "15"}

// written is the data that the server, and the author of the ratios, write to a cluster.
type written struct {
	client     kubernetes.Interface
	kubeconfig string
}

func (w written) put(t *testing.T) {
	t.Helper()
	maps := w.client.CoreV1().ConfigMaps(namespace)
	for _, name := range append([]string{"workload-resizer-ca"}, kept...) {
		cm, err := maps.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cm.Data = map[string]string{"key": name}
		if _, err := maps.Update(t.Context(), cm, metav1.UpdateOptions{FieldManager: "workload-resizer"}); err != nil {
			t.Fatal(err)
		}
	}
	secrets := w.client.CoreV1().Secrets(namespace)
	secret, err := secrets.Get(t.Context(), "workload-resizer-tls", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret.Data = map[string][]byte{"tls.key": []byte("key")}
	if _, err := secrets.Update(t.Context(), secret, metav1.UpdateOptions{FieldManager: "workload-resizer"}); err != nil {
		t.Fatal(err)
	}
	const ratios = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + deploy.ConfigMap + "}\ndata: {config.yaml: mine}\n"
	must(t, ratios, "kubectl", "--kubeconfig", w.kubeconfig, "-n", namespace, "apply", "--server-side", "--force-conflicts", "-f", "-")
}

// lost returns an error if data that put wrote is missing. It expects the certificate only if
// certificate is true.
func (w written) lost(ctx context.Context, certificate bool) error {
	names := append([]string{deploy.ConfigMap}, kept...)
	if certificate {
		names = append(names, "workload-resizer-ca")
		secret, err := w.client.CoreV1().Secrets(namespace).Get(ctx, "workload-resizer-tls", metav1.GetOptions{})
		if err != nil || string(secret.Data["tls.key"]) != "key" {
			return fmt.Errorf("the certificate is gone: %w", err)
		}
	}
	for _, name := range names {
		cm, err := w.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if cm.Data["key"] != name && cm.Data["config.yaml"] != "mine" {
			return fmt.Errorf("%s has %v", name, cm.Data)
		}
	}
	return nil
}

func TestInstall(t *testing.T) {
	t.Parallel()
	t.Run("data of the servers outlives the release", dataOfTheServersOutlivesTheRelease)
	t.Run("a cluster can have only one release", aClusterCanHaveOnlyOneRelease)
	t.Run("the output of helm template can be applied", theOutputOfHelmTemplateCanBeApplied)
}

func dataOfTheServersOutlivesTheRelease(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	client := kubernetes.NewForConfigOrDie(cluster.Config())
	helm := func(args ...string) string {
		t.Helper()
		return must(t, "", "helm", append(args, "--kubeconfig", cluster.Kubeconfig, "--namespace", namespace)...)
	}
	notes := helm("install", "mine", chart, "--create-namespace")
	if !strings.Contains(notes, "kubectl -n "+namespace+" create configmap "+deploy.ConfigMap) {
		t.Errorf("the notes do not explain how to create the ConfigMap with the ratios:\n%s", notes)
	}
	for _, command := range []string{hold.FreezeCommand(namespace, contract.DefaultNames.Freeze), hold.UnfreezeCommand(namespace, contract.DefaultNames.Freeze)} {
		if !strings.Contains(notes, command) {
			t.Errorf("the notes do not have the command\n%s\n%s", command, notes)
		}
	}
	placeholder, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), deploy.ConfigMap, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Check([]byte(placeholder.Data[config.FileName])); err != nil {
		t.Errorf("the placeholder is not valid: %v", err)
	}
	data := written{client: client, kubeconfig: cluster.Kubeconfig}
	data.put(t)
	for _, step := range [][]string{
		{"upgrade", "mine", chart, "--set", "replicas=3"},
		{"upgrade", "mine", chart, "--set", "image.tag=v2", "--server-side=false"},
		{"upgrade", "mine", chart, "--set", "replicas=4", "--force-conflicts", "--server-side=true"},
		{"rollback", "mine", "1"},
	} {
		helm(step...)
		if err := data.lost(t.Context(), true); err != nil {
			t.Errorf("after helm %v: %v", step, err)
		}
	}
	helm("uninstall", "mine", "--wait")
	if err := data.lost(t.Context(), false); err != nil {
		t.Errorf("after the uninstall: %v", err)
	}
	if _, err := client.CoreV1().Secrets(namespace).Get(t.Context(), "workload-resizer-tls", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the private key still exists: %v", err)
	}
	if _, err := client.RbacV1().ClusterRoles().Get(t.Context(), "workload-resizer", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the ClusterRole still exists: %v", err)
	}
	restored := []byte(`{"data":{"restore.cluster":"{kind: Restore, allNamespaces: true}"}}`)
	if _, err := client.CoreV1().ConfigMaps(namespace).Patch(t.Context(), contract.DefaultNames.Holds, types.MergePatchType, restored, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	again := helm("install", "mine", chart, "--set", "state.keep=false")
	for text, want := range map[string]bool{notes: false, again: true} {
		if strings.Contains(text, "resizectl resume -A --nested --service "+namespace) != want {
			t.Errorf("the notes mention restored pods: %v, want %v:\n%s", !want, want, text)
		}
	}
	if err := data.lost(t.Context(), false); err != nil {
		t.Errorf("after installing the release again: %v", err)
	}
	helm("uninstall", "mine", "--wait")
	for _, name := range kept {
		if _, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s still exists: %v", name, err)
		}
	}
}

func aClusterCanHaveOnlyOneRelease(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	install := func(release string) error {
		const values = "benchNode: {enabled: true, labelNode: true}\nstampOriginals: {enabled: true}\nserviceAccount: {name: resizer}"
		_, err := run(t, values, "helm", "install", release, chart, "--kubeconfig", cluster.Kubeconfig, "--create-namespace", "--namespace", release, "--values", "-")
		return err
	}
	if err := install("one"); err != nil {
		t.Fatal(err)
	}
	const refused = "exists and cannot be imported into the current release"
	if err := install("two"); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("got %v, want %q", err, refused)
	}
	must(t, "", "helm", "uninstall", "one", "--kubeconfig", cluster.Kubeconfig, "--namespace", "one", "--wait")
	if err := install("two"); err != nil {
		t.Errorf("after uninstalling the first release: %v", err)
	}
}

func theOutputOfHelmTemplateCanBeApplied(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	client := kubernetes.NewForConfigOrDie(cluster.Config())
	manifest, err := rendered(t, namespace, "namespace: {create: true}\nconfig: {create: false}\nbenchNode: {enabled: true, labelNode: true}")
	if err != nil {
		t.Fatal(err)
	}
	apply := func() {
		t.Helper()
		must(t, manifest, "kubectl", "--kubeconfig", cluster.Kubeconfig, "apply", "-f", "-")
	}
	apply()
	// The namespace accepts only restricted pods.
	localcluster.Eventually(t, "the pods of the Deployment to be created", func() error {
		pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/component=server"})
		if err != nil {
			return err
		}
		if len(pods.Items) != 2 {
			return fmt.Errorf("got %d pods, want 2", len(pods.Items))
		}
		return nil
	})
	data := written{client: client, kubeconfig: cluster.Kubeconfig}
	data.put(t)
	apply()
	if err := data.lost(t.Context(), true); err != nil {
		t.Errorf("after applying the manifest again: %v", err)
	}
	must(t, "", "helm", "install", "mine", chart, "--kubeconfig", cluster.Kubeconfig, "--namespace", namespace, "--take-ownership", "--force-conflicts")
	if err := data.lost(t.Context(), true); err != nil {
		t.Errorf("after Helm adopted the objects: %v", err)
	}
}
