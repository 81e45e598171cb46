package bmctest

import "strings"

// A Scene is a way for a BMC to be.
type Scene string

// The scenes. In each the machine is on when it begins, and does what is asked
// within a second, unless the scene says otherwise.
const (
	Plain Scene = "plain" // a good BMC: all features, all actions, TLS that is pinned

	// Where it leads.
	MovedHere    Scene = "moved-here"    // logs in and answers only after a 308 on the same host
	MovedAway    Scene = "moved-away"    // redirects requests to another host
	LinksAway    Scene = "links-away"    // links that are absolute, on another host
	LinksAt      Scene = "links-at"      // links that begin with @, and so make a user of the host before them
	LinksSlashes Scene = "links-slashes" // links that begin with // and another host
	LinksUp      Scene = "links-up"      // links that hold ..
	LocationAway Scene = "location-away" // the new session's Location is on another host

	// Who it is.
	Impostor   Scene = "impostor"    // another key than the endpoint's pin
	SelfSigned Scene = "self-signed" // the endpoint trusts the system's roots

	// What it answers with.
	Endless  Scene = "endless"   // bodies without end
	NextLoop Scene = "next-loop" // collections whose next page is themselves
	Drip     Scene = "drip"      // a byte now and then
	Garbage  Scene = "garbage"   // what is no document

	// How it lets in.
	NoToken      Scene = "no-token"      // a login succeeds without a token
	SessionsFull Scene = "sessions-full" // no session is free
	Outcast      Scene = "outcast"       // a login succeeds and each token is refused
	OldPassword  Scene = "old-password"  // it wants a new password first

	// When it answers.
	BusySeconds Scene = "busy-seconds" // 503, Retry-After: 7
	BusyDate    Scene = "busy-date"    // the same as a date, 7 to 8 s ahead
	StartsUp    Scene = "starts-up"    // 503 for twenty seconds, Retry-After: 5

	// What its machine does.
	LateOff     Scene = "late-off"      // reads On for ten seconds after the power was cut, and the power goes then
	Flicker     Scene = "flicker"       // one read of Off, On for ten seconds, then off
	SlowPower   Scene = "slow-power"    // PoweringOff and PoweringOn for five seconds each
	ChassisOn   Scene = "chassis-on"    // the system reads Off at once, the chassis On for ten seconds, and has power so long
	DeafGuest   Scene = "deaf-guest"    // the operating system ignores the button
	FewActions  Scene = "few-actions"   // On and ForceOff alone are listed
	HiddenTypes Scene = "hidden-types"  // what is listed stands in an ActionInfo
	LostReply   Scene = "lost-reply"    // carries power requests out and drops the connection
	OffRefuses  Scene = "off-refuses"   // off while off, and reset while off, are errors
	Strange     Scene = "strange-state" // a power state that no schema has

	// How it keeps a boot override.
	NoContinuous  Scene = "no-continuous"  // Once and Disabled alone are listed
	SettingsBoot  Scene = "settings-boot"  // takes it in the settings object alone
	OnceIgnored   Scene = "once-ignored"   // accepts it, and keeps nothing
	ETagStrong    Scene = "etag-strong"    // If-Match must be the strong ETag
	ETagWeak      Scene = "etag-weak"      // answers with W/, wants the strong one
	ETagGzip      Scene = "etag-gzip"      // adds -gzip to it where compression is asked for
	ETagQuoted    Scene = "etag-quoted"    // quotes it twice, and wants it unquoted
	ETagEmpty     Scene = "etag-empty"     // an empty one, and refuses any If-Match
	ETagRequired  Scene = "etag-required"  // 428 without If-Match
	MediaTransfer Scene = "media-transfer" // an insert must name TransferProtocolType
	MediaMethod   Scene = "media-method"   // and TransferMethod
	MediaUser     Scene = "media-user"     // and a user
	MediaPatch    Scene = "media-patch"    // is inserted by PATCH, without action
	DeafSlots     Scene = "deaf-slots"     // the first slots take no URL
	StaleMedia    Scene = "stale-media"    // an old image, that reads inserted for five seconds after its eject
	TaskVanishes  Scene = "task-vanishes"  // a power request is a task that is gone when it has succeeded
	TaskFails     Scene = "task-fails"     // a task that ends in Exception, and changes nothing
	TaskStaysNew  Scene = "task-stays-new" // a task that says New for ever, though it has succeeded
)

// treeScene begins the scenes of recorded BMCs.
const treeScene = "tree:"

// Tree is the scene of a recorded BMC, by the name of its recording. With
// shuffled its collections list their members in another order each time.
func Tree(name string, shuffled bool) Scene {
	if shuffled {
		name += "?shuffled"
	}
	return Scene(treeScene + name)
}

// Recording is the name in a scene of a recorded BMC, and whether it is shuffled.
func (s Scene) Recording() (name string, shuffled, ok bool) {
	name, ok = strings.CutPrefix(string(s), treeScene)
	name, shuffled = strings.CutSuffix(name, "?shuffled")
	return name, shuffled, ok
}
