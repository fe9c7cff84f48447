package fetch

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// errMetadata means that an address belongs to a cloud's metadata service, which gives
// credentials of the node to anyone on it.
var errMetadata = errors.New("refused to connect to the metadata service of a cloud")

// metadata are the addresses of the metadata services of clouds: AWS, Azure, Google and others,
// AWS with IPv6, AWS's credentials of tasks and of pods, Google with IPv6, Alibaba Cloud, Azure's
// configuration of nodes, and Oracle with IPv6.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("169.254.170.23"), netip.MustParseAddr("fd00:ec2::23"),
	netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"),
	netip.MustParseAddr("fd00:c1::a9fe:a9fe"),
}

// nat64 are addresses that gateways translate to IPv4: the address in their last four bytes.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// isMetadata reports whether an address belongs to a metadata service. All link-local addresses
// count, as no feed has one.
func isMetadata(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) {
		bytes := a.As16()
		a = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	if a.IsLinkLocalUnicast() {
		return true
	}
	for _, m := range metadata {
		if a == m {
			return true
		}
	}
	return false
}

// newTransport returns a transport that never connects to a metadata service. It checks the
// address of each connection, so that neither names nor redirects lead there. A proxy finds
// addresses itself, so that only the known names and addresses can be checked for it.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second, Control: checkAddress}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = dialer.DialContext
	proxy := t.Proxy
	t.Proxy = nil
	if proxy != nil {
		t.Proxy = func(r *http.Request) (via *url.URL, err error) {
			if err := checkHost(r.URL.Hostname()); err != nil {
				return nil, err
			}
			return proxy(r)
		}
	}
	return t
}

// checkAddress is called before each connection.
func checkAddress(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if isMetadata(to.Addr()) {
		return errMetadata
	}
	return nil
}

// checkHost checks the host of a URL that a proxy would connect to: the proxy, not this process,
// finds its address.
func checkHost(host string) error {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "metadata.google.internal") || strings.EqualFold(strings.TrimSuffix(host, "."), "metadata.goog") {
		return errMetadata
	}
	if a, err := netip.ParseAddr(host); err == nil && isMetadata(a) {
		return errMetadata
	}
	return nil
}
