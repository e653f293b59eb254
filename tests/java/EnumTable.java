import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

/**
 * The constants of the enums named as arguments: class, name and the number that stands for it on
 * the wire. That number is the enum's first field of type byte, short or int.
 */
public final class EnumTable {
    public static void main(String[] args) throws Exception {
        for (String name : args) {
            Class<?> type = Class.forName(name);
            Field number = null;
            for (Field field : type.getDeclaredFields()) {
                Class<?> kind = field.getType();
                boolean small = kind == byte.class || kind == short.class || kind == int.class;
                if (small && !Modifier.isStatic(field.getModifiers()) && number == null) {
                    number = field;
                }
            }
            if (number == null) {
                throw new IllegalArgumentException(name + " has no number");
            }
            number.setAccessible(true);
            for (Object constant : type.getEnumConstants()) {
                System.out.println(String.join("\t", name, ((Enum<?>) constant).name(),
                    String.valueOf(number.get(constant))));
            }
        }
    }
}
