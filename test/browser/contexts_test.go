package browser

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// viaCluster returns the flags with which the console uses a kubeconfig with two contexts of the cluster and, if a plugin is given, a third
// one, whose user has its credentials from it.
func (w *world) viaCluster(t *testing.T, plugin string) []string {
	t.Helper()
	admin, err := clientcmd.LoadFromFile(w.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	current := admin.Contexts[admin.CurrentContext]
	for _, name := range []string{"blue", "green"} {
		admin.Contexts[name] = &clientcmdapi.Context{Cluster: current.Cluster, AuthInfo: current.AuthInfo}
	}
	if plugin != "" {
		admin.AuthInfos["asking"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: "client.authentication.k8s.io/v1", Command: plugin, InteractiveMode: clientcmdapi.AlwaysExecInteractiveMode,
		}}
		admin.Contexts["asking"] = &clientcmdapi.Context{Cluster: current.Cluster, AuthInfo: "asking"}
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*admin, kubeconfig); err != nil {
		t.Fatal(err)
	}
	return []string{"--kubeconfig", kubeconfig, "--certificate-authority", w.cert.CertFile, "--service-account-token", deploy.Namespace + "/admin"}
}

// behindService lets users find the server through its Service.
func (w *world) behindService(t *testing.T) {
	t.Helper()
	_, port, err := net.SplitHostPort(w.server.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	service, err := os.ReadFile(filepath.Join(root, "deploy", "base", "service.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, service, localcluster.BehindService(deploy.Namespace, port))
	w.MarkReady(t, deploy.Namespace)
	flags := w.viaCluster(t, "")
	localcluster.Eventually(t, "the Service to lead to the server", func() error {
		out, err := command(t, append(flags, "status")...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// contexts shows two consoles side by side in one browser.
func (w *world) contexts(t *testing.T) {
	flags := w.viaCluster(t, "")
	blue, green := run(t, append(flags, "--context", "blue", "/workloads")...), run(t, append(flags, "--context", "green", "/workloads")...)
	chrome := start(t)
	one, two := blue.in(chrome), green.in(chrome)
	look := func(b *tab) []string {
		b.says("deployment/web")
		return js[[]string](b, `(async () => [document.title, document.querySelector(".identity").innerText, await (await fetch("/icon.svg")).text()])()`)
	}
	a, b := look(one), look(two)
	for i, what := range []string{"title", "header", "icon"} {
		if a[i] == b[i] {
			t.Errorf("both have the %s %s", what, a[i])
		}
	}
	if !strings.Contains(a[0], "blue") || !strings.Contains(b[1], "green") {
		t.Errorf("the consoles are %q and %q", a, b)
	}
	if *shots != "" {
		one.documented(blue.base)
	}
	// Both cookies are in one browser, and each is of no use at the other console.
	for _, other := range []struct {
		b         *tab
		own, base string
		status    int
	}{
		{one, blue.base, blue.base, http.StatusOK}, {two, green.base, green.base, http.StatusOK},
		{one, blue.base, green.base, http.StatusUnauthorized}, {two, green.base, blue.base, http.StatusUnauthorized},
	} {
		if got := other.b.withCookies(other.own, other.base); got != other.status {
			t.Errorf("%s answers with %d to the cookies of %s", other.base, got, other.own)
		}
	}
	third := chrome.open(t)
	third.visit(green.base + "/workloads")
	third.says("deployment/web")
	if got := js[string](third, "document.title"); !strings.Contains(got, "green") {
		t.Errorf("the title is %s", got)
	}
	third.visit(strings.Replace(green.base, port(green), port(blue), 1) + "/workloads")
	third.says("This page has another address.")
}

// withCookies asks for a page with the cookies that the browser sends to another one, and returns the status of the answer.
func (b *tab) withCookies(own, base string) int {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1"+base[strings.LastIndexByte(base, ':'):]+"/", nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Host = strings.TrimPrefix(base, "http://")
	cookies := call(b, network.GetCookies, network.GetCookiesParams{URLs: []string{own + "/"}}).Cookies
	if len(cookies) != 1 {
		b.Fatalf("%s has the cookies %v", own, cookies)
	}
	r.AddCookie(&http.Cookie{Name: cookies[0].Name, Value: cookies[0].Value})
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// documented takes the pictures for the documentation, of which "make pictures" makes new ones, when the pages show all that they can.
func (b *tab) documented(base string) {
	b.size(1280, 900)
	for _, page := range []struct{ path, says, picture string }{
		{"/workloads/" + namespace + "/Deployment/web", "Measured on n4", "workload"}, {"/", "Used", "console"},
	} {
		b.visit(base + page.path)
		b.says(page.says)
		b.until("charts", `document.querySelectorAll("figure canvas").length >= 4`)
		b.picture(page.picture)
	}
}

func port(c *console) string { return c.base[strings.LastIndexByte(c.base, ':'):] }

// asks is a credential plugin that asks for a password each time, and gives a token that expires soon.
const asks = `#!/bin/sh
printf 'Password: ' > /dev/tty
read -r password < /dev/tty
[ "$password" = secret ] || exit 1
printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "%s", "expirationTimestamp": "%s"}}' "$(cat TOKEN)" "$(date -u -d '+2 seconds' +%Y-%m-%dT%H:%M:%SZ)"
`

// plugin uses a credential plugin that asks in the terminal, at the start and again when the credential has expired. The page says then
// where the answer is missing.
func (w *world) plugin(t *testing.T) {
	folder := t.TempDir()
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), w.Config(), deploy.Namespace, "admin", folder)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	token, path := filepath.Join(folder, "token"), filepath.Join(folder, "plugin")
	if err := os.WriteFile(token, []byte(config.AuthInfos["admin"].Token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(asks, "TOKEN", token, 1)), 0o700); err != nil {
		t.Fatal(err)
	}
	flags := w.viaCluster(t, path)
	mine, theirs := terminal(t)
	cmd := command(t, append([]string{"console", "--no-open", "--context", "asking", "/workloads"}, flags...)...)
	cmd.Stdin, cmd.Stderr = theirs, theirs
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	var mayAnswer atomic.Bool
	mayAnswer.Store(true)
	go answer(mine, &mayAnswer)
	c := runWith(t, cmd)
	b := c.in(start(t))
	b.says("deployment/web")
	// The next connection needs the password again, and the user looks elsewhere.
	mayAnswer.Store(false)
	address := w.server.GRPCAddress
	if err := w.server.Stop(); err != nil {
		t.Fatal(err)
	}
	b.stale("deployment/web")
	w.serve(address)
	b.says("answer it there")
	b.picture("plugin")
	mayAnswer.Store(true)
	b.fresh()
	b.clean("the page")
}

// answer answers what a plugin asks in a terminal, while the user may.
func answer(terminal *os.File, may *atomic.Bool) {
	said := make(chan string)
	go func() {
		defer close(said)
		for buffer := make([]byte, 1000); ; {
			n, err := terminal.Read(buffer)
			if err != nil {
				return
			}
			said <- string(buffer[:n])
		}
	}()
	asked := 0
	for ticker := time.Tick(50 * time.Millisecond); ; {
		select {
		case text, open := <-said:
			if !open {
				return
			}
			asked += strings.Count(text, "Password: ")
		case <-ticker:
		}
		for ; asked > 0 && may.Load(); asked-- {
			_, _ = terminal.WriteString("secret\n")
		}
	}
}

// terminal returns both ends of a terminal.
func terminal(t *testing.T) (mine, theirs *os.File) {
	t.Helper()
	mine, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mine.Close() })
	if err := unix.IoctlSetPointerInt(int(mine.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(mine.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Close() })
	return mine, theirs
}
