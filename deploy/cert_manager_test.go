package deploy

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestCertManager(t *testing.T) {
	t.Run("cert-manager replaces the server's own certificates", certManagerReplacesTheServersOwnCertificates)
}

func certManagerReplacesTheServersOwnCertificates(t *testing.T) {
	for _, of := range overlays {
		template := server(t, built(t, of, "cert-manager"))
		args := template.Spec.Containers[0].Args
		if slices.Contains(args, "--tls-self-signed") {
			t.Errorf("%s: the arguments are %v", of, args)
		}
		certificates := slices.DeleteFunc(objects(t, built(t, of, "cert-manager")), func(o *unstructured.Unstructured) bool {
			return o.GetKind() != "Certificate" || o.GetName() != "workload-resizer"
		})
		if len(certificates) != 1 {
			t.Fatalf("%s: got %d certificates of the server, want 1", of, len(certificates))
		}
		secret, _, _ := unstructured.NestedString(certificates[0].Object, "spec", "secretName")
		if volumes := template.Spec.Volumes; len(volumes) != 1 || volumes[0].Secret == nil || volumes[0].Secret.SecretName != secret {
			t.Errorf("%s: the certificate is in Secret %s, but the volumes are %v", of, secret, volumes)
		}
		// The name that clients verify when they connect through the cluster.
		names, _, _ := unstructured.NestedStringSlice(certificates[0].Object, "spec", "dnsNames")
		if want := client.DefaultService + "." + client.DefaultNamespace + ".svc"; !slices.Contains(names, want) {
			t.Errorf("%s: the certificate is for %v, want %s", of, names, want)
		}
	}
}

// checkAuthority runs the command in the component's comments, with a Secret as cert-manager
// would create it.
func checkAuthority(t *testing.T, cluster *localcluster.Cluster, admin kubernetes.Interface) {
	const authority = "-----BEGIN CERTIFICATE-----\nMIIB\"\\\n-----END CERTIFICATE-----\n"
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "workload-resizer-authority"}, StringData: map[string]string{"tls.crt": authority}}
	if _, err := admin.CoreV1().Secrets(Namespace).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	patches := slices.DeleteFunc(commands(t, "components/cert-manager/kustomization.yaml"), func(c string) bool { return !strings.HasPrefix(c, "kubectl patch ") })
	if len(patches) != 1 {
		t.Fatalf("got the commands %v, want one", patches)
	}
	shell(t, cluster, patches[0])
	got, err := admin.CoreV1().ConfigMaps(Namespace).Get(t.Context(), "workload-resizer-ca", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Data["ca.crt"] != authority {
		t.Errorf("callers trust %q", got.Data)
	}
	kubectl(t, "--kubeconfig", cluster.Kubeconfig, "apply", "-k", "base")
	again, err := admin.CoreV1().ConfigMaps(Namespace).Get(t.Context(), "workload-resizer-ca", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again.Data["ca.crt"] != authority {
		t.Errorf("after applying the base again, callers trust %q", again.Data)
	}
}
